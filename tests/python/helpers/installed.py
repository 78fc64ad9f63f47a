"""Distributions in a folder, as an installer would put them there."""

import shutil


def install(folder, name, version, modules=(), files=None, **texts):
    """A distribution with these modules of one line each. Replaces one of the same
    name. `texts` are further files of metadata, by name without suffix."""
    uninstall(folder, name)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    for module in modules:
        path = folder / (module.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("def use(): return 1\n")
    listed = files
    if files is None:
        listed = [module.replace(".", "/") + ".py" for module in modules]
    if listed is not None:
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in listed))
    for stem, text in texts.items():
        (info / f"{stem}.txt").write_text(text)
    return info


def uninstall(folder, name):
    for info in folder.glob(f"{name.replace('-', '_')}-*.dist-info"):
        shutil.rmtree(info)
