from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.statistics import describe_lengths, describe_split, find_overlap


def test_labels_duplicate_and_conflicting_texts_are_counted():
    texts = ["好", "差", "好", "", "差", " \u3000", "好"]
    labels = [["1"], ["0"], ["0"], ["1"], ["0"], [], ["1"]]
    found = describe_split(texts, labels)
    assert found.num_rows == 7
    assert found.label_counts == {"0": 3, "1": 3}
    assert found.num_unlabelled == 1
    assert found.num_duplicates == 3
    assert found.num_conflicts == 1
    assert found.conflicts == (0, 2)


def test_labels_are_listed_by_frequency():
    found = describe_split(["a", "b", "c", "d"], [["y"], ["x", "y"], ["x"], ["z"]])
    assert list(found.label_counts.items()) == [("x", 2), ("y", 2), ("z", 1)]


def test_the_order_of_several_labels_is_no_conflict():
    assert describe_split(["a", "a"], [["x", "y"], ["y", "x"]]).num_conflicts == 0


def test_pairs_count_as_duplicates_only_as_a_whole():
    found = describe_split(["a", "a", "a"], [["1"], ["0"], ["1"]], text_pairs=["b", "c", "b"])
    assert (found.num_duplicates, found.num_conflicts) == (1, 0)


def test_overlap_counts_rows():
    found = find_overlap(["a", "a", "b", "c"], ["a", "c", "x"])
    assert (found.num_rows, found.share) == (3, 0.75)
    assert find_overlap([], ["a"]).share == 0.0


def test_percentiles_are_lengths_that_occur():
    found = describe_lengths(list(range(1, 101)), limit=90)
    assert found.percentiles == {50: 50, 75: 75, 90: 90, 95: 95, 99: 99}
    assert (found.longest, found.mean, found.num_over) == (100, 50.5, 10)
    assert describe_lengths([]).num_rows == 0


def test_known_figures_of_a_public_set_are_found(shared_data):
    def texts(name):
        settings = ReadSettings(columns=("label", "text_a"))
        rows = list(read_rows(shared_data / "chnsenticorp" / name, settings=settings, faults=Faults()))
        return [row.fields["text_a"] for row in rows], [[row.fields["label"]] for row in rows]

    train, labels = texts("train.tsv")
    found = describe_split(train, labels)
    assert found.label_counts == {"0": 4801, "1": 4799}
    assert found.num_conflicts == 24
    assert find_overlap(texts("dev.tsv")[0], train).num_rows > 0
