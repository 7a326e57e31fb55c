"""Writers put experience into words: rules without a model, or any language model."""
