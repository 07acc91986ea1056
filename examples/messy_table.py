"""
From a messy table to labels, in two processes
==============================================

Support tickets with an id, a date, numbers with gaps, categories, free text and a
column of possible causes, such as ``billing|refund``. One command learns from them and
saves a model, another one labels new tickets, and Python loads the same model. The new
table is as new tables are: columns in another order, one more of them, a category that
nobody has seen before.
"""

# %%
# Two tables
# ----------
#
# The new one has no labels; its columns are turned round, it has a column of its own,
# and its first ticket came through a channel that the training table does not know.
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from partlearn.datasets import make_tickets

folder = Path(tempfile.mkdtemp())


def write(name, columns):
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if cell != cell else cell for cell in row])


known = make_tickets(240, random_state=0)
write("tickets.csv", known.columns)

coming = make_tickets(60, random_state=1)
new = {n: list(c) for n, c in coming.columns.items() if n != "candidates"}
new = dict(reversed(new.items())) | {"agent": ["ann", "bob"] * 30}
new["channel"][0] = "telegraph"
write("new.csv", new)


# %%
# Train in one process, predict in another
# ----------------------------------------
def partlearn(*words):
    done = subprocess.run(
        [sys.executable, "-m", "partlearn", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout + done.stderr)
    return done


options = ["--labels", "candidates", "--id", "ticket", "--folds", "2"]
assert partlearn("train", "tickets.csv", *options, "--save", "model").returncode == 0
words = ["--load", "model", "--out", "predictions.csv"]
assert partlearn("predict", "new.csv", *words).returncode == 0

# %%
# Every ticket keeps its id, and the one from the telegraph is marked.
with (folder / "predictions.csv").open(newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
assert [row["ticket"] for row in rows] == new["ticket"]
assert rows[0]["unlike"] == "unusual channel"
for row in rows[:3]:
    sure = f"{float(row['probability']):.2f}"
    print(row["ticket"], row["label"], sure, row["unlike"])
right = sum(r["label"] == t for r, t in zip(rows, coming.truth, strict=True))
print(f"{right} of {len(rows)} right; a guess would get about {len(rows) // 6}.")

# %%
# The same model in Python
# ------------------------
from partlearn.persistence import load_model

model = load_model(folder / "model").estimator
labels = model.predict(new)
assert labels.tolist() == [row["label"] for row in rows]
print(model.predict_frame(new)[["ticket", "label", "probability", "unlike"]].head(3))

# %%
# A column that is missing
# ------------------------
#
# Nothing is guessed: the command says which column it wants, and writes no file.
del new["product"]
write("short.csv", new)
done = partlearn("predict", "short.csv", "--load", "model", "--out", "none.csv")
assert done.returncode != 0
assert "'product'" in done.stderr
assert not (folder / "none.csv").exists()
