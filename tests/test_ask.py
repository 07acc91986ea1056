"""rank_rows: gains by hand, the greedy rule literally, costs, bad input."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

from partlearn import disambiguate, plan_questions, rank_rows
from partlearn._ask import _influence, answer_gain, flattened, greedy_order
from partlearn.candidates import make_candidates


def result(F, Z=None, right=None, bags=None, low=None):
    """A result as `disambiguate` makes it, with given confidences."""
    F = np.asarray(F, dtype=float)
    mean = F.max(axis=1).mean() if right is None else right
    classes = np.array(list("abcdefgh"))[: F.shape[1]]
    return SimpleNamespace(
        label_confidence=F,
        confidence=F.max(axis=1),
        label=classes[F.argmax(axis=1)],
        classes=classes,
        candidates=F > 0,
        expected_right=(mean, mean if low is None else low, mean),
        index=np.arange(len(F)) + 100,
        bags=bags,
        n_votes=None,
        space=lambda: np.arange(len(F))[:, None] * 1.0 if Z is None else Z,
    )


def literal_gain(F, a):
    q = F.shape[1]
    gains = []
    for row in F:
        after = 0.0
        for v in range(q):
            after += max(
                row[j] * (a if j == v else (1 - a) / (q - 1)) for j in range(q)
            )
        gains.append(after - row.max())
    return np.maximum(gains, 0)


@pytest.mark.parametrize("accuracy", [1.0, 0.8, 0.5])
def test_gain_of_an_answer(accuracy):
    rng = np.random.RandomState(0)
    F = rng.dirichlet(np.ones(4), 50)
    F[:3] = [[0.25] * 4, [0.5, 0.5, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_allclose(
        answer_gain(F, accuracy), literal_gain(F, accuracy), atol=1e-12
    )
    assert answer_gain(np.ones((3, 1)), 0.9).tolist() == [0, 0, 0]


def literal_order(own, W, cost, budget):
    """Every gain anew after every choice."""
    own, W = own.copy(), W.toarray()
    chosen, open_rows = [], set(np.flatnonzero(own > 1e-9))
    while True:
        best, gain = None, -1.0
        for i in sorted(open_rows):
            if cost[i] > budget or own[i] <= 1e-9:
                continue
            value = own[i] + W[i] @ own
            if best is None or value / cost[i] > gain / cost[best] + 1e-12:
                best, gain = i, value
        if best is None:
            return chosen
        chosen.append((best, gain))
        budget -= cost[best]
        open_rows.remove(best)
        own = own * (1 - W[best])
        own[best] = 0


def test_order_is_greedy():
    rng = np.random.RandomState(1)
    own = rng.rand(40) * (rng.rand(40) < 0.8)
    W = sp.random_array((40, 40), density=0.1, rng=rng) * 0.3
    W = sp.csr_array(W.maximum(W.T))
    W.setdiag(0)
    W.eliminate_zeros()
    cost = rng.uniform(1, 3, 40)
    for budget in (np.inf, 11.5):
        expected = literal_order(own, W, cost, budget)
        order = list(greedy_order(own, W, cost, budget))
        assert [i for i, _ in order] == [i for i, _ in expected]
        np.testing.assert_allclose([g for _, g in order], [g for _, g in expected])


def test_influence_is_a_twentieth_of_the_overlap():
    F = np.array([[0.6, 0.4], [0.5, 0.5], [0.0, 1.0]])
    W = _influence(np.arange(3.0)[:, None], F).toarray()
    expected = np.array([[0, 0.9, 0.4], [0.9, 0, 0.5], [0.4, 0.5, 0]]) / 20
    np.testing.assert_allclose(W, expected)


def test_similar_rows_are_not_all_asked():
    """Rows 0 to 10 are twins, row 11 stands far away: it comes second."""
    F = np.full((12, 2), 0.5)
    F[11] = [0.52, 0.48]
    Z = np.zeros((12, 1))
    Z[:11, 0] = np.arange(11) * 1e-3
    Z[11] = 100.0
    twins = result(F, Z)
    assert rank_rows(twins, budget=1)[0] < 11
    many = np.full((200, 2), 0.5)
    Z = np.r_[np.arange(100) * 1e-4, 50 + np.arange(100) * 1e-4][:, None]
    first = rank_rows(result(many, Z), budget=10)
    assert 2 <= (first < 100).sum() <= 8  # both heaps are asked


def test_rows_names_gains_and_stopping():
    F = [[0.5, 0.5, 0], [0.9, 0.1, 0], [1, 0, 0], [0.4, 0.3, 0.3], [0.995, 0.005, 0]]
    questions = plan_questions(result(F))
    assert questions.rows.tolist() == [3, 0, 1, 4]
    assert questions.index.tolist() == [103, 100, 101, 104]
    assert questions.choices == [["a", "b", "c"], ["a", "b"], ["a", "b"], ["a"]]
    assert questions.expected_right_now == pytest.approx(0.759)
    total = (questions.expected_right - 0.759) * 5
    np.testing.assert_allclose(total, np.cumsum(questions.gain))
    assert questions.worth_asking(0.1) == 2
    assert questions.worth_asking(0.0) == len(questions) == 4
    assert rank_rows(result(F), budget=2).tolist() == [3, 0]
    assert rank_rows(result(F), budget=2, cost=[1, 1, 1, 9, 1]).tolist() == [0, 1]
    pytest.importorskip("pandas")
    assert questions.to_frame()["row"].tolist() == [103, 100, 101, 104]


def test_a_cautious_stop_assumes_the_lower_end_of_the_range():
    """From .8 right to .6 right: twice as many wrong labels, and all gains twofold."""
    F = [[0.5, 0.5], [0.7, 0.3], [0.85, 0.15], [0.95, 0.05], [1, 0]]
    questions = plan_questions(result(F, low=0.6))
    assert (questions.expected_right_now, questions.low_now) == (0.8, 0.6)
    for rate in (0.04, 0.1, 0.3, 0.5):
        cautious = questions.worth_asking(rate, cautious=True)
        assert cautious == questions.worth_asking(rate / 2)
    assert questions.worth_asking(0.2) == 2
    assert questions.worth_asking(0.2, cautious=True) == 3
    sure = plan_questions(result(np.eye(2), low=0.9))
    assert sure.worth_asking(cautious=True) == len(sure) == 0


def test_nothing_to_ask():
    assert rank_rows(result(np.eye(3))).tolist() == []
    assert rank_rows(result([[0.5, 0.5]])).tolist() == [0]


def test_answers_help_more_than_random_ones():
    X, y = load_wine(return_X_y=True)
    S = make_candidates(y, n_false=1, random_state=0)
    found = disambiguate(X, S, "plknn")
    wrong = found.label != y
    asked = rank_rows(found, budget=50)
    assert wrong[asked].mean() > 2 * wrong.mean()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"budget": 0}, "`budget` must be positive"),
        ({"accuracy": 0.3}, "`accuracy` must be above"),
        ({"cost": [1, 2]}, "one per row"),
        ({"cost": [1, 0, 1]}, "row 1 has 0"),
    ],
)
def test_bad_input(words, message):
    with pytest.raises(ValueError, match=message):
        rank_rows(result(np.full((3, 3), 1 / 3)), **words)


def test_confidences_above_the_expected_share_are_flattened():
    """The mean of the largest becomes the expected share; order and zeros stay."""
    F = np.array([[0.9, 0.1, 0.0], [0.7, 0.2, 0.1], [1.0, 0.0, 0.0]])
    G = flattened(F, 0.8)
    assert G.max(axis=1).mean() == pytest.approx(0.8, abs=1e-4)
    np.testing.assert_allclose(G.sum(axis=1), 1)
    assert (G[F == 0] == 0).all()
    ratio = np.log(G[0, 0] / G[0, 1]) / np.log(9)  # one power for all
    assert np.log(G[1, 0] / G[1, 1]) / np.log(3.5) == pytest.approx(ratio)
    np.testing.assert_array_equal(flattened(F, 0.9), F)
    assert flattened(F, 0.1).max(axis=1).mean() < 0.65
    few = plan_questions(result(F), budget=2)
    many = plan_questions(result(F, right=0.7), budget=2)
    assert many.expected_right_now == 0.7
    assert many.gain.sum() > few.gain.sum()


def test_rows_of_a_bag_are_asked_together():
    """Bag p has gains .5 and .1, bag q .4 and .4; row 4 is alone, row 5 is settled."""
    F = [[0.5, 0.5], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.55, 0.45], [0.995, 0.005]]
    far = np.arange(6)[:, None] * 1.0
    bags = np.array(["p", "p", "q", "q", None, "p"], dtype=object)
    found = result(F, far, bags=bags)
    questions = plan_questions(found)
    assert questions.rows.tolist() == [4, 2, 3, 0, 1]
    assert questions.bag.tolist() == [None, "q", "q", "p", "p"]
    assert [questions.worth_asking(rate) for rate in (0.1, 0.35, 0.42)] == [5, 3, 1]
    assert rank_rows(found, budget=3).tolist() == [4, 2, 3]
    # Bag q costs more than is left; p comes instead.
    assert rank_rows(found, budget=4, cost=[1, 1, 3, 3, 1, 1]).tolist() == [4, 0, 1]
    pytest.importorskip("pandas")
    assert "bag" in questions.to_frame()
    assert "bag" not in plan_questions(result(F, far)).to_frame()
