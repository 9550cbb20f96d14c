"""OpenAI's models, and any service that speaks the same protocol: Ollama, vLLM, LM Studio."""

from nudge.models.openai.model import OpenAIModel

__all__ = ["OpenAIModel"]
