"""What test_pyspark.py claims, checked in one Spark on this machine."""

import os
import pickle
import threading
import xml.etree.ElementTree
from operator import add

import claims
import pyspark.cloudpickle
import waybill
import waybill.integrations.pyspark
from claims import is_waybills, module_of_the_driver, raised_by
from pyspark import AccumulatorParam, StorageLevel
from pyspark.serializers import CPickleSerializer
from pyspark.sql import Row, SparkSession
from pyspark.sql.functions import col, udf
from pyspark.sql.types import (
    IntegerType,
    StringType,
    StructField,
    StructType,
    UserDefinedType,
)

offset = 40


class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(other) is type(self) and other.x == self.x

    def __hash__(self):
        return hash(self.x)


class PointType(UserDefinedType):
    @classmethod
    def sqlType(cls):
        return StructType([StructField("x", IntegerType(), False)])

    @classmethod
    def module(cls):
        return "__main__"

    def serialize(self, obj):
        return (obj.x,)

    def deserialize(self, datum):
        return Point(datum[0])


Point.__UDT__ = PointType()


class Points(AccumulatorParam):
    def zero(self, value):
        return Point(0)

    def addInPlace(self, first, second):
        assert type(first) is type(second) is Point
        first.x += second.x
        return first


def numbers(count=10, parts=2):
    return sc.parallelize(range(count), parts)


def claim_functions_of_main_travel_with_globals_and_closures():
    def make(step):
        return lambda x: x + step + offset

    assert numbers(3).map(make(1)).collect() == [41, 42, 43]


def claim_submodules_used_only_inside_a_function_are_imported():
    def tag(x):
        return xml.etree.ElementTree.fromstring("<a/>").tag

    assert numbers(2).map(tag).collect() == ["a", "a"]


def claim_functions_go_as_waybills_and_plain_data_as_plain_pickles():
    assert is_waybills(CPickleSerializer().dumps(lambda x: x + offset))
    assert is_waybills(CPickleSerializer().dumps([1, [Point(1)]]))

    data = [1, "a", (2.5, None), {"k": Row(a=1)}, add, StringType()]
    assert CPickleSerializer().dumps(data) == DUMPS_OF_PYSPARK(data, 5)


def claim_workers_follow():
    def what_they_write(x):
        return CPickleSerializer().dumps(Point(x))

    assert all(map(is_waybills, numbers(2).map(what_they_write).collect()))


def claim_instances_come_back_as_instances_of_the_drivers_class():
    came = numbers(4).map(Point).collect()

    assert [type(point) is Point and point.x for point in came] == [0, 1, 2, 3]


def claim_instances_go_and_are_shuffled_as_keys_and_values():
    pairs = sc.parallelize([(Point(n % 3), Point(n)) for n in range(9)], 3)

    sums = pairs.mapValues(lambda point: point.x).reduceByKey(add).collect()

    assert {key.x: total for key, total in sums} == {0: 9, 1: 12, 2: 15}
    assert {type(key) for key, _ in sums} == {Point}
    grouped = dict(pairs.groupByKey().mapValues(list).collect())
    assert sorted(point.x for point in grouped[Point(2)]) == [2, 5, 8]


def claim_pipelines_of_many_steps_work():
    words = sc.parallelize("a b a c b a".split(), 3)

    counts = words.map(lambda word: (word, 1)).reduceByKey(lambda x, y: x + y)

    assert sorted(counts.collect()) == [("a", 3), ("b", 2), ("c", 1)]
    kept = numbers(20).filter(lambda x: x % 2).flatMap(lambda x: [x] * 2).distinct()
    assert sorted(kept.collect()) == list(range(1, 20, 2))
    assert numbers(5).cartesian(numbers(2)).count() == 10
    assert numbers(5).zip(numbers(5).map(Point)).values().first().x == 0
    assert numbers(9).sortBy(lambda x: -x).take(2) == [8, 7]
    assert numbers(9).aggregate(0, lambda x, y: x + y, add) == 36


def claim_data_can_be_kept_and_saved():
    points = numbers(4).map(Point).persist(StorageLevel.DISK_ONLY)
    assert points.count() == 4 and points.map(lambda point: point.x).sum() == 6
    points.saveAsPickleFile("points")

    expected = [0, 1, 2, 3]
    assert sorted(point.x for point in sc.pickleFile("points").collect()) == expected


def claim_accumulators_add_up():
    count, points = sc.accumulator(0), sc.accumulator(Point(0), Points())

    def look(x):
        count.add(1)
        points.add(Point(x))

    numbers(10).foreach(look)

    assert count.value == 10
    assert type(points.value) is Point and points.value.x == 45


def claim_broadcast_variables_arrive():
    table = sc.broadcast({n: str(n) for n in range(100)})

    assert numbers(3).map(lambda x: table.value[x]).collect() == ["0", "1", "2"]
    named = udf(lambda x: table.value[x], StringType())
    rows = spark.range(3).select(named("id").alias("s")).collect()
    assert [row.s for row in rows] == ["0", "1", "2"]
    table.unpersist()
    assert numbers(3).map(lambda x: len(table.value)).sum() == 300


def claim_broadcast_variables_hold_functions_of_main_if_pickled():
    held = sc.broadcast(waybill.pickled([Point(2), lambda x: x + offset]))

    def use(x):
        point, function = held.value
        return function(point.x + x)

    assert numbers(2).map(use).collect() == [42, 43]


def claim_large_functions_become_broadcast_variables():
    large = os.urandom(2_000_000)

    lengths = numbers(3).map(lambda x: len(large) + x).collect()

    assert lengths == [2_000_000, 2_000_001, 2_000_002]


def claim_columns_are_computed_by_functions_of_main():
    double = udf(lambda x: Point(2 * x).x + offset, IntegerType())

    @udf("string")
    def word(x):
        return xml.etree.ElementTree.fromstring(f"<a{x}/>").tag

    rows = spark.range(3).select(double("id").alias("n"), word(col("id")).alias("w"))

    expected = [(40, "a0"), (42, "a1"), (44, "a2")]
    assert [tuple(row) for row in rows.collect()] == expected
    spark.udf.register("doubled", lambda x: 2 * x, IntegerType())
    assert spark.sql("select doubled(21) as n").first().n == 42


def claim_the_jvm_reads_the_data_it_is_given():
    rows = numbers(4).map(lambda x: Row(n=x, s=str(x), l=[x, x]))

    frame = rows.toDF()

    assert frame.where("n > 1").agg({"n": "sum"}).first()[0] == 5
    assert frame.rdd.map(lambda row: row.s + offset * "!").first() == "0" + 40 * "!"
    pair = udf(lambda x: (x, str(x)), "struct<a:int,b:string>")
    assert (
        spark.range(2).select(pair("id").alias("p")).select("p.b").collect()[1].b == "1"
    )


def claim_types_of_main_are_types_of_columns_for_the_driver():
    # In workers PySpark looks for them by name, and finds none of main.
    schema = StructType([StructField("p", PointType(), False)])
    frame = spark.createDataFrame([(Point(1),), (Point(2),)], schema)

    assert frame.collect() == [Row(p=Point(1)), Row(p=Point(2))]


def claim_an_exception_names_function_file_and_line():
    def divide(x):
        return x / 0  # This line.

    text = str(raised_by(numbers(1, 1).map(divide).collect))
    assert "ZeroDivisionError" in text and "in divide" in text
    assert __file__ in text and "return x / 0  # This line." in text

    column = spark.range(1).select(udf(divide)("id"))
    assert "in divide" in str(raised_by(column.collect))


def claim_what_cannot_travel_is_an_error_that_says_where():
    lock = threading.Lock()

    error = raised_by(numbers().map(lambda x: lock).collect, pickle.PicklingError)
    assert "(_thread.lock)" in str(error) and error.path.startswith(
        "obj[0].__closure__"
    )
    error = raised_by(numbers().map(lambda x: sc).collect, pickle.PicklingError)
    assert "CONTEXT_ONLY_VALID_ON_DRIVER" in str(error)
    inner = numbers()
    error = raised_by(numbers().map(lambda x: inner.count()).collect)
    assert isinstance(error, pickle.PicklingError) and "SPARK-5063" in str(error)


def claim_modules_registered_by_value_go_by_value():
    alone = module_of_the_driver(
        "sent_along", "def f(x): return g()\ndef g(): return 2"
    )
    for registry in (pyspark.cloudpickle, waybill):
        registry.register_pickle_by_value(alone)
        try:
            assert numbers(1, 1).map(lambda x: alone.f(x)).collect() == [2]
            assert numbers(1, 1).map(alone.f).collect() == [2]
            two = spark.range(1).select(udf(alone.f, "int")("id").alias("n"))
            assert two.first().n == 2
        finally:
            registry.unregister_pickle_by_value(alone)


def claim_many_small_tasks_give_their_results():
    points = numbers(10_000, 100).map(Point).map(lambda point: Point(point.x + 1))

    assert [point.x for point in points.collect()] == list(range(1, 10_001))


def claim_installing_twice_and_uninstalling_leaves_pyspark_as_it_was():
    waybill.integrations.pyspark.install()
    waybill.integrations.pyspark.uninstall()

    dumps, dump = pyspark.cloudpickle.dumps, pyspark.cloudpickle.dump
    assert (dumps, dump) == (DUMPS_OF_PYSPARK, DUMP_OF_PYSPARK)
    assert not is_waybills(CPickleSerializer().dumps(lambda x: x + offset))
    assert numbers(3).map(lambda x: x + offset).sum() == 123
    came = numbers(3).map(Point).collect()
    assert [point.x for point in came] == [0, 1, 2]
    # Reading what workers still write does not install anything here.
    assert pyspark.cloudpickle.dumps is DUMPS_OF_PYSPARK
    waybill.integrations.pyspark.uninstall()


if __name__ == "__main__":
    DUMPS_OF_PYSPARK = pyspark.cloudpickle.dumps
    DUMP_OF_PYSPARK = pyspark.cloudpickle.dump
    waybill.integrations.pyspark.install()
    builder = SparkSession.builder.master("local[2]")
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    sc = spark.sparkContext
    try:
        claims.check_all(globals())
    finally:
        spark.stop()
