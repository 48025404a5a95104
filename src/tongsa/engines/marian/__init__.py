"""MarianMT models of Hugging Face transformers: translators are exported as such, and OPUS-MT is imported."""
