"""What fitted attributes are, by name; the language is that of ``_state``.

Estimators of partlearn use one name for one idea, so that most of them need nothing
here. An attribute that is new, or another thing in one class, is declared in `ATTRIBUTES`
or under the class in `CLASSES`; a part that ``__state_types__`` lists, in `PARTS`. Attributes
in `DERIVED` follow from others: files do not hold them.
"""

# SPDX-License-Identifier: BSD-3-Clause

# Of every estimator.
COMMON = {
    "_sklearn_output_config": "map of text",
    "feature_names_in_": "texts[features]",
    "n_features_in_": "whole(0..2147483647)",
}

# Of the estimators of partlearn.
ATTRIBUTES = {
    "C_": "real",
    "_C": "flag[neighbors, classes]",
    "_S": "flag[neighbors, classes]",
    "_X": "matrix[neighbors, features]",
    "_chosen": "maybe whole",
    "_confidence": "maybe share[samples, classes]",
    "_in_blocks": "flag",
    "_labels": "index(classes)[neighbors]",
    "_machines": "part(Predictor)",
    "_model": "part(SoftModel)",
    "_predictor": "part(Predictor)",
    "_seen": "flag[classes]",
    "_wanted": "maybe real or text",
    "always_": "flag[classes]",
    "background_": "real",
    "candidates_": "flag[samples, classes]",
    "classes_": "labels[classes]",
    "classifier_": "estimator",
    "coef_": "real[classes, features]",
    "coefs_": "list of real[*, *]",
    "components_": "real[n_components_, features]",
    "credible_": "flag[samples, classes]",
    "cross_fitted_": "real[samples, n_components_]",
    "disambiguated_": "labels(repeated)[samples]",
    "eigenvalues_": "loose[*]",
    "estimator_": "estimator(features)",
    "estimators_": "list of estimator(features)",
    "expert_weights_": "real[*]",
    "factors_": "map of loose[*, *]",
    "feature_belief_": "share[samples, classes]",
    "graph_": "matrix[samples, samples]",
    "held_out_scores_": "loose[samples, classes]",
    "hit_rates_": "loose[*]",
    "intercept_": "real[classes]",
    "intercepts_": "list of real[*]",
    "joint_entropy_": "loose[*]",
    "label_confidence_": "maybe share[samples, classes]",
    "labels_": "loose[samples, classes]",
    "lam_": "real",
    "mean_": "real[features]",
    "multilabel_": "flag",
    "n_components_": "whole(0..2147483647)",
    "n_discriminant_": "whole",
    "n_iter_": "whole",
    "n_labels_": "whole(0..2147483647)",
    "n_latent_": "whole",
    "n_removed_": "whole",
    "never_": "flag[classes]",
    "objective_": "loose[*]",
    "prior_": "share[classes]",
    "ranking_": "whole[features]",
    "reducer_": "maybe estimator",
    "redundancy_": "loose[*]",
    "relevance_": "loose[*]",
    "ridge_": "real",
    "scale_": "real[features]",
    "scores_": "loose[features]",
    "selected_": "index(features)[selected]",
    "sigma_": "maybe real",
    "sizes_": "whole[*]",
    "support_": "flag[features]",
    "threshold_": "real",
    "vote_summary_": "maybe part(VoteSummary)",
    "votes_": "loose[samples, classes]",
    "weights_": "loose[features, *]",
}

_POOLED = {
    "bandwidth_": "map of maybe real",
    "expert_weights_": "map of map of real",
    "geometry_weights_": "map of real",
    "model_": "part(PooledModel)",
    "ridge_": "map of real",
}
_SCALED = {
    "n_samples_seen_": "whole or loose or whole[features]",
    "scale_": "maybe loose[features]",
}
_TREE = {
    "classes_": "labels[classes] or list of labels[*]",
    "max_features_": "whole",
    "n_classes_": "whole or list of whole or whole[*]",
    "n_outputs_": "whole(1..2147483647)",
    "tree_": "tree",
}
_FOREST = {
    "_n_samples": "whole",
    "_n_samples_bootstrap": "maybe whole",
    "_sample_weight": "maybe real[*]",
    "classes_": "labels[classes] or list of labels[*]",
    "estimator": "estimator",
    "estimator_": "estimator",
    "estimator_params": "any",
    "estimators_": "list of estimator(features)",
    "n_classes_": "whole or list of whole",
    "n_outputs_": "whole(1..2147483647)",
    "oob_decision_function_": "any",
    "oob_score_": "real",
}

# Of single classes: what differs from the above, and the classes of scikit-learn.
CLASSES: dict[str, dict[str, str]] = {
    "partlearn:CRISPClassifier": _POOLED,
    "partlearn:DELIN": {
        "X_fit_": "matrix[fitted, features]",
        "components_": "real[n_components_, features] or real[n_components_, fitted]",
    },
    "partlearn:KernelCRISP": {
        **_POOLED,
        "_kept": "whole(0..2147483647)[n_components_]",
        "_scale": "real[n_components_]",
        "component_geometries_": "list of text(linear, rbf, laplacian)",
    },
    "partlearn:MLKNN": {
        "likelihood_": "share[2, classes, n_neighbors_+1]",
        "n_neighbors_": "whole(0..2147483647)",
    },
    "partlearn:PLECOC": {
        "code_": "whole(-1..1)[classes, bits]",
        "estimators_": "list of estimator(features)",
        "performance_": "loose[classes, bits]",
    },
    "partlearn:PLKNN": {
        "_S": "flag[samples, classes]",
        "_X": "matrix[samples, features]",
        "_reference": "maybe index(samples)[*]",
    },
    "partlearn:PMLFSLA": {"rank_agreement_": "loose"},
    "partlearn:ParticleMAP": {
        "coef_": "real[pairs, features]",
        "intercept_": "real[pairs]",
        "log_odds_": "real[classes, classes]",
        "pairs_": "index(classes)[pairs, 2]",
    },
    "partlearn:ParticleVLS": {
        "coef_": "real[pairs, features]",
        "intercept_": "real[pairs]",
        "pairs_": "index(classes from -1)[pairs, 2]",
        "weight_": "real[pairs]",
    },
    "partlearn:PartialClassifier": {
        "class_weights_": "maybe map of real or maybe real[classes]",
        "encoder_": "estimator",
        "estimator_": "estimator",
        "familiarity_": "part(Familiarity)",
        "n_unlabelled_": "whole",
    },
    "partlearn:PooledClassifier": {"weights_": "real[*]"},
    "partlearn:TRACE": {"noise_": "real[classes]", "penalties_": "loose[*]"},
    "partlearn:TableEncoder": {
        "_many": "list of text",
        "categories_": "map of estimator(1)",
        "category_scales_": "map of real",
        "gaps_": "list of text & text",
        "imputer_": "maybe estimator",
        "kept_": "flag[encoded]",
        "kinds_": "map of part(ColumnKind)",
        "n_features_out_": "whole",
        "number_ranges_": "loose[2, numbers]",
        "numbers_": "list of text & text",
        "scaler_": "maybe estimator",
        "texts_": "map of estimator & estimator & real",
    },
    "partlearn:TunedPCA": {
        "grid_": "whole[*]",
        "n_principal_": "whole",
    },
    "sklearn:ColumnTransformer": {
        "_columns": "any",
        "_n_features": "whole",
        "_name_to_fitted_passthrough": "map of estimator",
        "_remainder": "any",
        "_transformer_to_input_indices": "map of list of index(features)",
        "output_indices_": "map of slice",
        "sparse_output_": "flag",
        "transformers_": "list of any",
    },
    "sklearn:DecisionTreeClassifier": _TREE,
    "sklearn:ExtraTreeClassifier": _TREE,
    "sklearn:ExtraTreesClassifier": _FOREST,
    "sklearn:FunctionTransformer": {},
    "sklearn:LabelEncoder": {"classes_": "labels[classes]"},
    "sklearn:LogisticRegression": {
        "C_": "real",
        "classes_": "labels[classes]",
        "coef_": "real[outputs, features]",
        "intercept_": "real[outputs]",
        "l1_ratio_": "maybe real",
        "n_iter_": "whole[*]",
    },
    "sklearn:MaxAbsScaler": {**_SCALED, "max_abs_": "loose[features]"},
    "sklearn:MinMaxScaler": {
        **_SCALED,
        "data_max_": "loose[features]",
        "data_min_": "loose[features]",
        "data_range_": "loose[features]",
        "min_": "loose[features]",
    },
    "sklearn:MissingIndicator": {
        "_n_features": "whole",
        "_precomputed": "flag",
        "features_": "index(features)[*]",
    },
    "sklearn:OneHotEncoder": {
        "_infrequent_indices": "list of maybe whole[*]",
        "categories_": "list of labels[*]",
    },
    "sklearn:OrdinalEncoder": {
        "_infrequent_indices": "list of maybe whole[*]",
        "categories_": "list of labels[*]",
    },
    "sklearn:PCA": {
        "_fit_svd_solver": "text",
        "components_": "real[n_components_, features]",
        "explained_variance_": "real[n_components_]",
        "explained_variance_ratio_": "loose[n_components_]",
        "mean_": "real[features]",
        "n_components_": "whole(0..2147483647)",
        "n_samples_": "whole",
        "noise_variance_": "real",
        "singular_values_": "real[n_components_]",
    },
    "sklearn:RandomForestClassifier": _FOREST,
    "sklearn:RobustScaler": {
        "center_": "maybe loose[features]",
        "scale_": "maybe loose[features]",
    },
    "sklearn:SimpleImputer": {
        "_fill_dtype": "dtype",
        "_fit_dtype": "dtype",
        "indicator_": "maybe estimator",
        "statistics_": "loose[features] or labels(repeated)[features]",
    },
    "sklearn:StandardScaler": {
        **_SCALED,
        "mean_": "maybe loose[features]",
        "var_": "maybe loose[features]",
    },
    "sklearn:TfidfTransformer": {"idf_": "real[features]"},
    "sklearn:TfidfVectorizer": {
        "_tfidf": "estimator(words)",
        "fixed_vocabulary_": "flag",
        "vocabulary_": "map of whole",
    },
    "sklearn:TruncatedSVD": {
        "components_": "real[parts, features]",
        "explained_variance_": "loose[parts]",
        "explained_variance_ratio_": "loose[parts]",
        "singular_values_": "real[parts]",
    },
}

# Follows from what else is there; not in files.
DERIVED: dict[str, tuple[str, ...]] = {
    "sklearn:OneHotEncoder": (
        "_default_to_infrequent_mappings",
        "_drop_idx_after_grouping",
        "_infrequent_enabled",
        "_n_features_outs",
        "drop_idx_",
    ),
    "sklearn:OrdinalEncoder": (
        "_default_to_infrequent_mappings",
        "_infrequent_enabled",
        "_missing_indices",
    ),
    # An address in memory, which is another one in every process.
    "sklearn:TfidfVectorizer": ("_stop_words_id",),
}

PARTS: dict[str, dict[str, str]] = {
    "Annotators": {
        "accuracy": "loose[annotators]",
        "n_votes": "whole[annotators]",
        "name": "labels(repeated)[annotators]",
    },
    "ColumnKind": {
        "date_format": "text",
        "grouping": "text",
        "kind": (
            "text(number, category, date, text, id, constant, ignored, label)"
        ),
        "reason": "text",
    },
    "Confusions": {
        "accuracy": "loose[annotators]",
        "annotator": "index(annotators)[votes]",
        "common": "loose[classes, classes]",
        "count": "loose[votes, classes]",
        "label": "index(classes)[votes]",
        "total": "loose[annotators, classes]",
    },
    "Constant": {},
    "Familiarity": {
        "mean": "real[encoded]",
        "threshold": "real",
        "whitening": "real[encoded, encoded]",
    },
    "InputSpace": {
        "inverse": "real[features]",
        "mean": "real[features]",
        "projection": "maybe part(LinearMap)",
    },
    "KernelMap": {
        "coef": "real[points, columns]",
        "kernel": "text(rbf, laplacian)",
        "offset": "real[columns]",
        "points": "real[points, inputs]",
        "width": "real",
    },
    "LinearMap": {"coef": "real[features, columns]", "mean": "real[features]"},
    "PooledGeometry": {
        "bandwidth": "maybe real",
        "held_out": "real[samples, embedded]",
        "map": "part(LinearMap) or part(KernelMap)",
        "means": "real[classes, embedded]",
        "name": "text(linear, rbf, laplacian)",
        "ridge": "real",
        "values": "loose[embedded]",
    },
    "PooledModel": {
        "F": "share[samples, classes]",
        "converged": "flag",
        "geometries": "list of part(PooledGeometry)",
        "held_out": "real[samples, classes]",
        "linear": "real[experts]",
        "log_linear": "real[experts]",
        "n_neighbors": "whole(0..2147483647)",
        "objective": "list of loose",
        "order": "maybe index(samples)[samples]",
        "reference": "maybe index(samples)[reference]",
        "rows": "maybe real[*, inputs]",
        "space": "part(InputSpace)",
    },
    "Predictor": {
        "coef": "real[points, columns] or real[features, columns]",
        "intercept": "real[columns]",
        "points": "maybe matrix[points, features]",
        "sigma": "maybe real",
    },
    "SoftModel": {
        "members": "list of estimator(features) & index(classes)[*]",
        "n_classes": "whole(1..2147483647)",
    },
    "VoteSummary": {
        "annotators": "part(Annotators)",
        "classes": "labels[classes]",
        "confidence": "share[samples, classes]",
        "confusions": "part(Confusions)",
        "disagreement": "loose[samples]",
        "feature_disagreement": "maybe loose[samples]",
        "label": "labels(repeated)[samples]",
    },
}
