"""Known moves of names between versions of libraries, and names that Python removed.

Loaded when a name does not exist here. Rules are those of ``renames.py``; each applies
only where the old name does not exist, so a table may hold both directions: senders are
newer than receivers as often as older. Tested by
tests/python/imports/test_known_moves.py and, against the libraries,
tests/libraries/test_moved_names.py.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def _both_directions(old: str, new: str) -> Iterator[tuple[str, str]]:
    yield old, new
    yield new, old


def _of_python() -> Iterator[tuple[str, str]]:
    # Only 3.13 has these modules.
    yield "pathlib._local", "pathlib"
    yield "pathlib._abc", "pathlib"
    # The ``__module__`` of public classes and functions in some versions.
    yield "_py_warnings", "warnings"  # From 3.14 on.
    yield "math.integer", "math"  # From 3.15 on.
    yield "zipfile._path", "zipfile"  # From 3.12 on.
    for name in "legacy", "functional":  # Until 3.12; from 3.13 on.
        yield f"importlib.resources._{name}", "importlib.resources"
    for name in "islink", "isjunction", "isdevdrive", "lexists":  # From 3.12 on.
        yield f"genericpath:{name}", f"os.path:{name}"
    for name in "current_task", "all_tasks":  # From 3.12 on.
        yield f"_asyncio:{name}", f"asyncio.tasks:{name}"
    for name in "heapify_max", "heappop_max", "heapreplace_max":  # From 3.14 on.
        yield from _both_directions(f"_heapq:{name}", f"_heapq:_{name}")
    policy = "AbstractEventLoopPolicy"  # Until 3.13.
    yield from _both_directions(f"asyncio.events:{policy}", f"asyncio.events:_{policy}")
    yield "_thread:lock", "threading:Lock"  # From 3.13 on it is a class.
    yield "re:PatternError", "re:error"  # From 3.13 on.
    yield "re:prefixmatch", "re:match"  # From 3.15 on.
    yield "enum:EnumDict", "enum:_EnumDict"  # From 3.13 on.
    for old, name in (  # Until 3.14.
        ("compile", "compiler"),
        ("constants", "constants"),
        ("parse", "parser"),
    ):
        yield f"sre_{old}", f"re._{name}"
    yield "typing.io", "typing"  # Until 3.12.
    yield "typing.re", "typing"
    for name in "bz2", "gzip", "lzma", "zlib":  # From 3.14 on.
        yield f"compression.{name}", name
    yield from _both_directions("_compression", "compression._common._streams")
    yield from _both_directions("cProfile", "profiling.tracing")  # From 3.15 on.
    # From 3.14 on; Union differs then.
    yield "annotationlib:ForwardRef", "typing:ForwardRef"
    yield "annotationlib:get_annotations", "inspect:get_annotations"
    yield "annotationlib", "typing"
    for name in "ResourceReader", "Traversable", "TraversableResources":  # Until 3.13.
        yield f"importlib.abc:{name}", f"importlib.resources.abc:{name}"
    yield "configparser:SafeConfigParser", "configparser:ConfigParser"  # Until 3.11.
    yield "unittest:_TextTestResult", "unittest:TextTestResult"
    yield "unittest.runner:_TextTestResult", "unittest.runner:TextTestResult"
    # The __replace__ of dataclasses, from 3.13 on.
    yield "dataclasses:_replace", "waybill._kinds.callables:replace_fields"
    yield "builtins:frozendict", "types:MappingProxyType"  # From 3.15 on.
    # The __doc__ of dataclasses, from 3.15 on.
    yield "dataclasses:_AutoDocstring", "waybill._kinds.callables:SignatureAsDoc"
    yield "dataclasses:_auto_docstring", "waybill._kinds.callables:SIGNATURE_AS_DOC"
    # The __subclasshook__ of protocols, from 3.12 on.
    hook = "waybill._kinds.callables:protocol_hook"
    yield "typing:_proto_hook", hook
    # Called by the hook of 3.11, which the receiver's own replaces.
    yield "typing:_is_callable_members_only", hook
    yield "typing:NoExtraItems", "typing:Any"  # In TypedDicts, from 3.15 on.
    for name in "Num", "Str", "Bytes", "NameConstant", "Ellipsis":  # Until 3.13.
        yield f"ast:{name}", "ast:Constant"


#: Modules that numpy 2 made private.
_NUMPY_LIB = """
    arraypad arraysetops arrayterator function_base histograms index_tricks
    nanfunctions npyio polynomial shape_base stride_tricks twodim_base type_check
    ufunclike utils
"""
#: Top-level names of numpy 1, each followed by its name in numpy 2.
_NUMPY_NAMES = """
    float_ float64 complex_ complex128 cfloat complex128 singlecomplex complex64
    longcomplex clongdouble longfloat longdouble clongfloat clongdouble string_ bytes_
    unicode_ str_ product prod cumproduct cumprod sometrue any alltrue all
    row_stack vstack round_ round trapz trapezoid
"""


def _of_numpy() -> Iterator[tuple[str, str]]:
    yield from _both_directions("numpy.core.*", "numpy._core.*")
    for name in _NUMPY_LIB.split():
        yield from _both_directions(f"numpy.lib.{name}", f"numpy.lib._{name}_impl")
    names = _NUMPY_NAMES.split()
    for old, new in zip(names[::2], names[1::2], strict=True):
        yield f"numpy:{old}", f"numpy:{new}"
    yield "numpy:trapezoid", "numpy:trapz"
    for name in (
        *("AxisError", "ComplexWarning", "ModuleDeprecationWarning", "RankWarning"),
        *("TooHardError", "VisibleDeprecationWarning"),
    ):
        yield from _both_directions(f"numpy:{name}", f"numpy.exceptions:{name}")
    yield "numpy.exceptions", "numpy"  # Before 1.25.


def _of_pandas() -> Iterator[tuple[str, str]]:
    base = "pandas.core.indexes.base"
    yield "pandas.core.indexes.numeric", base  # Until 1.5.
    for name in (
        *("Int64Index", "UInt64Index", "Float64Index"),
        *("NumericIndex", "IntegerIndex"),
    ):
        yield f"pandas.core.indexes.numeric:{name}", f"{base}:Index"
        yield f"pandas:{name}", "pandas:Index"
    types = "pandas.core.dtypes.dtypes"
    yield "pandas.core.arrays.sparse.dtype", types  # Until 2.0.
    yield f"{types}:SparseDtype", "pandas.core.arrays.sparse.dtype:SparseDtype"
    array = "pandas.core.arrays.numpy_"
    yield from _both_directions(f"{array}:PandasArray", f"{array}:NumpyExtensionArray")
    yield from _both_directions(f"{types}:PandasDtype", f"{types}:NumpyEADtype")
    internals = "pandas.core.internals"
    yield f"{internals}.blocks:new_block", "pandas._libs.internals:_unpickle_block"
    nat = "pandas._libs.tslibs.nattype"
    yield from _both_directions(f"{nat}:__nat_unpickle", f"{nat}:_nat_unpickle")
    for name in "BlockManager", "SingleBlockManager":
        yield f"{internals}:{name}", f"{internals}.managers:{name}"


#: Modules of scikit-learn before 0.22: all became private; `old=new` if not `_old`.
_SKLEARN = {
    "cluster": "affinity_propagation_=_affinity_propagation bicluster birch "
    "dbscan_=_dbscan hierarchical=_agglomerative k_means_=_kmeans "
    "mean_shift_=_mean_shift optics_=_optics spectral",
    "covariance": "elliptic_envelope empirical_covariance_=_empirical_covariance "
    "graph_lasso_=_graph_lasso robust_covariance shrunk_covariance_=_shrunk_covariance",
    "cross_decomposition": "cca_=_pls pls_=_pls",
    "datasets": "base california_housing covtype kddcup99 lfw olivetti_faces openml "
    "rcv1 samples_generator species_distributions svmlight_format=_svmlight_format_io "
    "twenty_newsgroups",
    "decomposition": "base cdnmf_fast dict_learning factor_analysis fastica_=_fastica "
    "incremental_pca kernel_pca nmf online_lda=_lda online_lda_fast pca sparse_pca "
    "truncated_svd",
    "ensemble": "bagging base forest gradient_boosting=_gb iforest voting "
    "weight_boosting",
    "feature_extraction": "dict_vectorizer hashing=_hash stop_words",
    "feature_selection": "base from_model mutual_info=_mutual_info rfe "
    "univariate_selection variance_threshold",
    "gaussian_process": "gpc gpr",
    "inspection": "partial_dependence",
    "linear_model": "base bayes cd_fast coordinate_descent huber least_angle logistic "
    "omp passive_aggressive perceptron ransac ridge sag sag_fast sgd_fast "
    "stochastic_gradient theil_sen",
    "manifold": "isomap locally_linear mds spectral_embedding_=_spectral_embedding "
    "t_sne",
    "metrics": "base classification pairwise_fast ranking regression scorer",
    "metrics.cluster": "bicluster expected_mutual_info_fast supervised unsupervised",
    "mixture": "base bayesian_mixture gaussian_mixture",
    "neighbors": "ball_tree base classification graph kd_tree kde lof nca "
    "nearest_centroid quad_tree regression unsupervised",
    "neural_network": "multilayer_perceptron rbm",
    "preprocessing": "data label",
    "semi_supervised": "label_propagation",
    "svm": "base bounds classes liblinear libsvm libsvm_sparse",
    "tree": "export tree=_classes",
    "utils": "fast_dict mocking seq_dataset testing weight_vector",
}


def _of_scikit_learn() -> Iterator[tuple[str, str]]:
    for package, modules in _SKLEARN.items():
        for pair in modules.split():
            old, _, new = pair.partition("=")
            yield f"sklearn.{package}.{old}", f"sklearn.{package}.{new or '_' + old}"
    yield "sklearn.externals.joblib.*", "joblib.*"
    for old in "sklearn.neighbors.dist_metrics", "sklearn.neighbors._dist_metrics":
        yield old, "sklearn.metrics._dist_metrics"
    for old in "sklearn.neighbors.typedefs", "sklearn.neighbors._typedefs":
        yield old, "sklearn.utils._typedefs"
    yield from _both_directions("sklearn.utils:Bunch", "sklearn.utils._bunch:Bunch")
    yield "sklearn.utils._bunch", "sklearn.utils"
    yield "sklearn.cross_decomposition._cca", "sklearn.cross_decomposition._pls"


#: Modules of scipy before 1.8, by package; to be removed in 2.0.
_SCIPY = {
    "sparse": "base bsr compressed construct csc csr data dia dok extract lil "
    "sputils coo",  # codespell:ignore
    "optimize": "lbfgsb linesearch minpack optimize slsqp tnc zeros",
    "interpolate": "fitpack fitpack2 interpolate ndgriddata polyint rbf",
    "spatial": "ckdtree kdtree qhull",
    "stats": "kde mvn stats",
    "signal": "filter_design fir_filter_design ltisys signaltools spline waveforms "
    "wavelets",
}


def _of_scipy() -> Iterator[tuple[str, str]]:
    for package, modules in _SCIPY.items():
        for name in modules.split():
            yield f"scipy.{package}.{name}", f"scipy.{package}._{name}"
    yield "scipy.stats.stats", "scipy.stats._stats_py"
    # Until 1.10.
    for name in "bsr", "coo", "csc", "csr", "dia", "dok", "lil":  # codespell:ignore
        array = f"{name}_array"
        yield from _both_directions(
            f"scipy.sparse._arrays:{array}", f"scipy.sparse._{name}:{array}"
        )
    yield "scipy.sparse._arrays", "scipy.sparse"


def _all_moves() -> dict[str, str]:
    moves: dict[str, str] = {}
    for rules in _of_python, _of_numpy, _of_pandas, _of_scikit_learn, _of_scipy:
        moves.update(rules())
    return moves


#: The new name of each old one; for newer senders, also the old name of new ones.
MOVES = _all_moves()


#: What the standard library lost: the first Python that lacks it, and what to do.
REMOVED: dict[str, tuple[str, str]] = {
    "asynchat": ("3.12", "use asyncio, or install pyasynchat"),
    "asyncore": ("3.12", "use asyncio, or install pyasyncore"),
    "distutils": ("3.12", "install setuptools, which brings it"),
    "imp": ("3.12", "use importlib"),
    "smtpd": ("3.12", "install aiosmtpd"),
    "aifc": ("3.13", "install standard-aifc"),
    "audioop": ("3.13", "install audioop-lts"),
    "cgi": ("3.13", "use urllib.parse, or install legacy-cgi"),
    "cgitb": ("3.13", "install legacy-cgi"),
    "chunk": ("3.13", "install standard-chunk"),
    "crypt": ("3.13", "use hashlib, or install legacycrypt"),
    "imghdr": ("3.13", "install filetype, or standard-imghdr"),
    "lib2to3": ("3.13", "install libcst or parso"),
    "mailcap": ("3.13", "use mimetypes, or install standard-mailcap"),
    "msilib": ("3.13", "install python-msilib"),
    "nis": ("3.13", "there is no replacement"),
    "nntplib": ("3.13", "install standard-nntplib"),
    "ossaudiodev": ("3.13", "install pygame"),
    "pipes": ("3.13", "use subprocess and shlex, or install standard-pipes"),
    "sndhdr": ("3.13", "install filetype, or standard-sndhdr"),
    "spwd": ("3.13", "install python-pam"),
    "sunau": ("3.13", "install standard-sunau"),
    "telnetlib": ("3.13", "install telnetlib3, or standard-telnetlib"),
    "tkinter.tix": ("3.13", "use tkinter.ttk"),
    "uu": ("3.13", "use base64, or install standard-uu"),
    "xdrlib": ("3.13", "install standard-xdrlib"),
    "importlib:find_loader": ("3.12", "use importlib.util.find_spec"),
    "pkgutil:ImpImporter": ("3.12", "use importlib.machinery.FileFinder"),
    "pkgutil:ImpLoader": ("3.12", "use importlib.machinery.SourceFileLoader"),
    "ssl:match_hostname": ("3.12", "OpenSSL matches names itself"),
    "ssl:wrap_socket": ("3.12", "use ssl.SSLContext.wrap_socket"),
    "configparser:LegacyInterpolation": ("3.13", "use BasicInterpolation"),
    "locale:resetlocale": ("3.13", "use locale.setlocale(locale.LC_ALL, '')"),
    "unittest:findTestCases": ("3.13", "use unittest.TestLoader"),
    "unittest:getTestCaseNames": ("3.13", "use unittest.TestLoader"),
    "unittest:makeSuite": ("3.13", "use unittest.TestLoader"),
    "asyncio:get_child_watcher": ("3.14", "asyncio watches processes itself"),
    "asyncio:set_child_watcher": ("3.14", "asyncio watches processes itself"),
    "pkgutil:find_loader": ("3.14", "use importlib.util.find_spec"),
    "pkgutil:get_loader": ("3.14", "use importlib.util.find_spec"),
}

#: Modules of the standard library with the first Python that has them, from 3.12 on.
ADDED: dict[str, str] = {
    "annotationlib": "3.14",
    "compression": "3.14",
    "concurrent.interpreters": "3.14",
    "pathlib.types": "3.14",
    "string.templatelib": "3.14",
    "profiling": "3.15",
}
