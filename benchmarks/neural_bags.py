"""Neural quantifiers on equal terms: one classifier, the same bags, three seeds.

    backbone   images -> posteriors and embeddings of items that the network has not seen (GPU)
    items      or a table -> posteriors by logistic regression, out of fold, and its features
    prepare    calibrated inputs, test bags, and the estimates of SLD, PACC and KDEyML (quantshift)
    train      SetNetwork and a plain network of HistNetQ's kind on these inputs (GPU)
    table      all errors, with standard errors
    trial      all of it but the backbone on small synthetic data

`backbone` and `train` need only NumPy, PyTorch and (backbone) scikit-learn, so that they can run on
a machine without the other packages of quantshift; `train` keeps what it has after every training
and stops after --minutes.

    python benchmarks/neural_bags.py backbone --images fashion-mnist --folder runs/neural
    python benchmarks/neural_bags.py prepare --folder runs/neural
    python benchmarks/neural_bags.py train --folder runs/neural --minutes 60
    python benchmarks/neural_bags.py table --folder runs/neural

For a table (`real_tables.py`, classes of at least 100 rows; half of the rows are tested on):

    python benchmarks/neural_bags.py items --table uci_yeast --folder runs/neural/yeast
    python benchmarks/neural_bags.py prepare --folder runs/neural/yeast --bags 250 --size 250
"""

import argparse
import gzip
import time
from pathlib import Path

import numpy as np

N_BAGS, SIZE = 1000, 500
FOLDS = 5

VARIANTS = {
    "SetNetwork": {"measure": "ae", "features": False},
    "SetNetwork, features": {"measure": "ae", "features": True},
    "histograms": {"measure": "ae"},
    "SetNetwork, features, RAE": {"measure": "rae", "features": True},
    "SetNetwork, RAE": {"measure": "rae", "features": False},
    "histograms, RAE": {"measure": "rae"},
    "SetNetwork, monotone": {"measure": "ae", "features": False, "monotone": True},
}
"""In the order in which they are trained; "histograms" is the network of HistNetQ's kind."""


def idx_array(path):
    """The numbers of a gzipped IDX file of bytes."""
    data = gzip.decompress(path.read_bytes())
    n_axes = data[3]
    shape = np.frombuffer(data, ">i4", n_axes, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def backbone(arguments):
    """Train a network on four fifths of the training images, for each seed."""
    from quantshift.classify.images.convolutional import ConvolutionalClassifier

    def read(name):
        (path,) = sorted(arguments.images.glob(f"{name}*"))
        return idx_array(path)

    X, y = read("train-images").reshape(60000, -1), read("train-labels")
    X_test, y_test = read("t10k-images").reshape(10000, -1), read("t10k-labels")
    for seed in arguments.seeds:
        began = time.monotonic()
        rng = np.random.default_rng(seed)
        fold = np.empty(len(y), dtype=int)
        for code in np.unique(y):
            members = rng.permutation(np.flatnonzero(y == code))
            fold[members] = np.arange(len(members)) % FOLDS
        held_out = fold == 0
        network = ConvolutionalClassifier(seed=seed, epochs=arguments.epochs or 30)
        network.fit(X[~held_out] / 255, y[~held_out])
        found = {}
        for name, images in (("", X[held_out]), ("test_", X_test)):
            found[f"{name}posteriors"] = network.predict_proba(images / 255).astype(np.float32)
            found[f"{name}features"] = network.embed(images / 255).astype(np.float16)
        np.savez_compressed(
            arguments.folder / f"backbone-{seed}.npz", codes=y[held_out], test_codes=y_test, **found
        )
        right = (found["test_posteriors"].argmax(1) == y_test).mean()
        print(f"seed {seed}: {right:.4f} right, {time.monotonic() - began:.0f} s", flush=True)


def items(arguments):
    """Posteriors and features of a table, for each seed another half of the rows to learn from."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    from real_tables import load, preparation

    rows = load(arguments.table, binary=False)
    for seed in arguments.seeds:
        order = np.random.default_rng(seed).permutation(len(rows.codes))
        train, test = np.array_split(order, 2)
        numbers = preparation().fit(rows.columns.iloc[train])
        X, X_test = (np.asarray(numbers.transform(rows.columns.iloc[r])) for r in (train, test))
        y, model = rows.codes[train], LogisticRegression(max_iter=2000)
        np.savez_compressed(
            arguments.folder / f"backbone-{seed}.npz",
            codes=y,
            test_codes=rows.codes[test],
            posteriors=cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba"),
            test_posteriors=model.fit(X, y).predict_proba(X_test),
            features=X,
            test_features=X_test,
        )
        print(f"seed {seed}: {model.score(X_test, rows.codes[test]):.4f} right", flush=True)


def prepare(arguments):
    """Inputs of the networks, test bags, and the estimates of other methods."""
    from quantshift import PACC, SLD, KDEyML
    from quantshift.quantifiers.neural.bags import BagSource
    from quantshift.quantifiers.neural.inputs import (
        Likelihoods,
        ScaledFeatures,
        learning_items,
    )

    for path in sorted(arguments.folder.glob("backbone-*.npz")):
        seed = int(path.stem.split("-")[1])
        known = {name: np.asarray(array) for name, array in np.load(path).items()}
        codes, test_codes = known["codes"].astype(np.int64), known["test_codes"].astype(np.int64)
        posteriors, test_posteriors = (
            _normalised(known[name]) for name in ("posteriors", "test_posteriors")
        )
        scaled = ScaledFeatures.learnt(known["features"], None)
        rng = np.random.default_rng(seed)
        rows = np.arange(len(codes), dtype=float)[:, np.newaxis]  # as features, to know the order
        learning = learning_items(posteriors, rows, codes, None, rng)
        order = learning.features[:, 0].astype(np.int64)
        n_classes = posteriors.shape[1]
        everything = BagSource(
            np.arange(len(test_codes)), test_codes, np.ones(len(test_codes)), n_classes
        )
        bags = everything.draw(
            arguments.bags, arguments.size, 1.0, np.random.default_rng([seed, 1])
        )
        likelihoods = Likelihoods.learnt(posteriors, codes, None)
        np.savez_compressed(
            arguments.folder / f"prepared-{seed}.npz",
            scores=learning.scores,
            features=scaled.training[order].astype(np.float16),
            codes=learning.codes,
            parts=learning.parts,
            final_scores=likelihoods.scores(posteriors)[order],
            test_scores=likelihoods.scores(test_posteriors),
            test_features=scaled(known["test_features"]).astype(np.float16),
            index=bags.index.astype(np.int16),
            p_true=bags.p_true,
        )
        estimates = {
            type(method).__name__: method.fit_posteriors(posteriors, codes).aggregate(
                test_posteriors, bags.index
            )
            for method in (SLD(), PACC(), KDEyML())
        }
        np.savez_compressed(arguments.folder / f"others-{seed}.npz", **estimates)
        print(f"seed {seed}: prepared", flush=True)


def _normalised(posteriors):
    p = posteriors.astype(np.float64)
    return p / p.sum(axis=1, keepdims=True)


def train(arguments):
    """Train all variants on what was prepared; results.npz is written after every training."""
    out = arguments.folder / "results.npz"
    results = dict(np.load(out)) if out.exists() else {}
    deadline = time.monotonic() + 60 * arguments.minutes
    longest = 0.0
    chosen = arguments.only or VARIANTS
    for name, options in ((name, VARIANTS[name]) for name in chosen):
        for path in sorted(arguments.folder.glob("prepared-*.npz")):
            key = f"{name}|{path.stem.split('-')[1]}"
            began = time.monotonic()
            if key in results or began + longest > deadline:
                continue
            given = dict(np.load(path))
            function = trained_histograms if name.startswith("hist") else trained_sets
            found = function(given, options, arguments)
            results |= {key if part == "" else f"{key}|{part}": a for part, a in found.items()}
            np.savez_compressed(out, **results)
            longest = max(longest, time.monotonic() - began)
            error = np.abs(found[""] - given["p_true"]).mean()
            print(f"{key}: AE {error:.5f}, {time.monotonic() - began:.0f} s", flush=True)


def trained_sets(given, options, arguments):
    """Estimates of SetNetwork: its own, those of the networks, and what it has measured."""
    from quantshift.quantifiers.neural import learning as learning_module
    from quantshift.quantifiers.neural.bags import LearningItems
    from quantshift.quantifiers.neural.evaluation import (
        corrected_scores,
        histograms_of,
        sample_estimates,
    )
    from quantshift.quantifiers.neural.learning import LearningOptions, learn_networks

    def features(name):
        columns = given[name].astype(np.float64)
        return columns if options["features"] else columns[:, :0]

    items = LearningItems(
        given["scores"],
        features("features"),
        given["codes"],
        np.ones(len(given["codes"])),
        given["parts"],
    )
    learning = LearningOptions(
        measure=options["measure"],
        sample_size=given["index"].shape[1],
        n_samples=arguments.n_samples,
        epochs=arguments.epochs or 40,
        width=arguments.width,
        concentration=1.0,
        monotone=options.get("monotone", False),
    )
    learning_module.ITEM_LOSS = arguments.item_loss
    learnt = learn_networks(items, learning, np.random.default_rng(0), arguments.device)
    index = given["index"].astype(np.int64)
    counts = np.ones(len(given["codes"]))
    common = {"alpha": learnt.alpha, "device": arguments.device}
    plain = sample_estimates({}, given["test_scores"], index, None, **common)
    known = corrected_scores(
        learnt.networks, given["final_scores"], features("features"), arguments.device
    )
    new = corrected_scores(
        learnt.networks, given["test_scores"], features("test_features"), arguments.device
    )
    estimates = []
    for network, own, tested in zip(learnt.networks, known, new, strict=True):
        histograms = histograms_of(own, given["codes"], counts, arguments.device)
        network = {**network, "histograms": histograms}
        estimates.append(sample_estimates(network, tested, index, None, **common))
    gains = 1 - learnt.errors[:, 1] / learnt.errors[:, 0]
    # The rule of SetNetwork, see `_is_better` there.
    used = gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(len(gains))
    networks = np.mean(estimates, axis=0)
    print(f"  alpha {learnt.alpha}, gains {gains.round(3)}, used: {used}", flush=True)
    return {
        "": networks if used else plain,
        "networks": networks,
        "likelihood": plain,
        "errors": learnt.errors,
    }


def trained_histograms(given, options, arguments):
    """A plain network of HistNetQ's kind: embeddings, two layers, soft histograms, a layer."""
    import torch
    from torch.nn import functional

    from quantshift.base.devices import torch_device
    from quantshift.quantifiers.neural.bags import BagSource
    from quantshift.quantifiers.neural.losses import LOSSES

    device, rng = torch_device(arguments.device), np.random.default_rng(0)
    n_classes, size = given["p_true"].shape[1], given["index"].shape[1]
    n_bins, width, n_features = 32, 64, given["features"].shape[1]

    def layer(n_in, n_out):
        values = rng.normal(size=(n_in, n_out)) * np.sqrt(2 / n_in)
        return torch.tensor(values, dtype=torch.float32, device=device).requires_grad_()

    layers = [layer(n_features, 128), layer(128, width), layer(width * n_bins, 256)]
    layers.append(layer(256, n_classes))
    biases = [torch.zeros(one.shape[1], device=device, requires_grad=True) for one in layers]

    def estimated(features, index):
        seen = features[torch.from_numpy(index.astype(np.int64)).to(device)]
        for k in (0, 1):
            seen = seen @ layers[k] + biases[k]
            seen = functional.relu(seen) if k == 0 else torch.sigmoid(seen)
        place = seen.unsqueeze(-1) * (n_bins - 1)
        hats = functional.relu(1 - torch.abs(place - torch.arange(n_bins, device=device)))
        pooled = hats.mean(dim=1).flatten(1)
        hidden = functional.relu(pooled @ layers[2] + biases[2])
        return functional.softmax(hidden @ layers[3] + biases[3], dim=1)

    def mean_loss(features, bags):
        p_true = torch.tensor(bags.p_true, dtype=torch.float32, device=device)
        p_hat = estimated(features, bags.index)
        return LOSSES[options["measure"]](p_true, p_hat, 1 / (2 * size)).mean()

    known, tested = (
        torch.tensor(given[name].astype(np.float32), device=device)
        for name in ("features", "test_features")
    )
    parts = given["parts"]
    sources = []
    for rows in (np.flatnonzero(parts != parts.max()), np.flatnonzero(parts == parts.max())):
        sources.append(BagSource(rows, given["codes"][rows], np.ones(len(rows)), n_classes))
    validation = [sources[1].draw(16, size, 1.0, rng) for _ in range(16)]
    weights = [*layers, *biases]
    optimiser = torch.optim.Adam(weights, 1e-3)
    best, smallest, best_epoch = [one.detach().clone() for one in weights], np.inf, 0
    for epoch in range(5 * (arguments.epochs or 40)):
        for _ in range(max(1, arguments.n_samples // 16)):
            optimiser.zero_grad()
            mean_loss(known, sources[0].draw(16, size, 1.0, rng)).backward()
            optimiser.step()
        with torch.no_grad():
            error = float(np.mean([float(mean_loss(known, bags)) for bags in validation]))
        if error < smallest:
            best, smallest, best_epoch = [one.detach().clone() for one in weights], error, epoch
        if epoch - best_epoch >= 20:
            break
    with torch.no_grad():
        for one, kept in zip(weights, best, strict=True):
            one.copy_(kept)
        found = [
            estimated(tested, rows).double().cpu().numpy()
            for rows in np.array_split(given["index"], max(1, len(given["index"]) // 16))
        ]
    print(f"  {epoch + 1} epochs, best {best_epoch + 1}, validation {smallest:.5f}", flush=True)
    p_hat = np.concatenate(found)
    return {"": p_hat / p_hat.sum(axis=1, keepdims=True)}


def table(arguments):
    """Errors of all methods: means over seeds, and standard errors over seeds and over bags."""
    from quantshift.metrics import ae, rae

    results = dict(np.load(arguments.folder / "results.npz"))
    errors: dict[str, dict[int, tuple]] = {}
    for path in sorted(arguments.folder.glob("prepared-*.npz")):
        seed = int(path.stem.split("-")[1])
        given = np.load(path)
        p_true, smoothing = given["p_true"], 1 / (2 * given["index"].shape[1])
        estimates = dict(np.load(arguments.folder / f"others-{seed}.npz"))
        for key, values in results.items():
            name, own_seed, *part = key.split("|")
            if int(own_seed) == seed and part in ([], ["networks"], ["likelihood"]):
                estimates[", ".join([name, *part])] = values
        for name, p_hat in estimates.items():
            found = ae(p_true, p_hat), rae(p_true, p_hat, smoothing=smoothing)
            errors.setdefault(name, {})[seed] = found
    print("± over seeds (in brackets: over bags); difference to SLD on the same bags")
    print("| | seeds | AE | AE - SLD's | RAE | RAE - SLD's |\n|---|---:|---:|---:|---:|---:|")
    for name, by_seed in errors.items():
        cells = [name, str(len(by_seed))]
        for which, digits in ((0, 5), (1, 4)):
            own = np.array([found[which] for found in by_seed.values()])
            gap = np.array([errors["SLD"][seed][which] for seed in by_seed])
            for values in (own, own - gap):
                means = values.mean(axis=1)
                over_seeds = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
                over_bags = values.std() / np.sqrt(values.size)
                cells.append(
                    f"{means.mean():.{digits}f} ± {over_seeds:.{digits}f} ({over_bags:.{digits}f})"
                )
        print("| " + " | ".join(cells) + " |")


def trial(arguments):
    """Two small synthetic backbones, whose embeddings say more than their posteriors."""
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        found = {}
        for name, n in (("", 600), ("test_", 800)):
            codes = np.arange(n) % 3
            features = 1.2 * np.eye(6)[codes] + 1.2 * np.eye(6)[codes + 3]
            features = features + rng.normal(size=features.shape)
            scores = np.exp(1.2 * features[:, :3])
            found[f"{name}posteriors"] = scores / scores.sum(axis=1, keepdims=True)
            found[f"{name}features"], found[f"{name}codes"] = features, codes
        np.savez_compressed(arguments.folder / f"backbone-{seed}.npz", **found)
    arguments.bags, arguments.size = 60, 50
    prepare(arguments)
    train(arguments)
    table(arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = {step.__name__: step for step in (backbone, items, prepare, train, table, trial)}
    parser.add_argument("step", choices=steps)
    parser.add_argument("--folder", type=Path, required=True, help="data and results")
    parser.add_argument("--images", type=Path, help="folder of the IDX files")
    parser.add_argument("--table", help="its name in real_tables.py")
    parser.add_argument("--bags", type=int, default=N_BAGS, help="prepare: how many")
    parser.add_argument("--size", type=int, default=SIZE, help="prepare: items of a bag")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--minutes", type=float, default=9.0, help="train: start nothing later")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--n-samples", type=int, default=512, help="bags in an epoch")
    parser.add_argument("--epochs", type=int, help="of the backbone (30) or of sets (40)")
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--item-loss", type=float, default=0.3, help="weight of the items' loss")
    parser.add_argument("--only", nargs="+", help="variants to train, all by default")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    steps[arguments.step](arguments)


if __name__ == "__main__":
    main()
