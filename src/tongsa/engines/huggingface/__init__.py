"""Language models in the layouts of Hugging Face transformers: GPT-2 and BERT, with the same logits."""
