"""Where you write: one module a chapter, generated from `reference/` with the solutions taken out."""
