"""What the steps of the walk-through do, in English and Korean."""

from __future__ import annotations

PARTS: dict[str, tuple[str, str, str]] = {
    "source": ("The source becomes vectors", "원문이 벡터가 된다", "3.4, 3.5"),
    "encoder": ("The encoder: words look at each other", "인코더: 단어들이 서로를 본다", "3.1"),
    "target": ("The translation so far becomes vectors", "지금까지의 번역이 벡터가 된다", "3.4, 3.5"),
    "decoder": ("The decoder: what is written looks back", "디코더: 지금까지 쓴 단어를 돌아본다", "3.2.3"),
    "cross": ("The decoder looks at the source", "디코더가 원문을 본다", "3.2.3"),
    "network": ("The decoder's network and its other layers", "디코더의 네트워크와 나머지 층", "3.1, 3.3"),
    "output": ("From a vector to the next word", "벡터에서 다음 단어로", "3.4"),
    "search": ("The search keeps the best translations", "탐색이 가장 좋은 번역을 남긴다", "6.1"),
}
"""English, Korean and section of the paper, for each part."""

STEPS: dict[str, tuple[str, str]] = {
    "tokens": (
        "The text is cut into subwords, each with a number; the end is one of them.",
        "문장을 서브워드로 나누고 번호를 붙인다. 문장의 끝도 그중 하나다.",
    ),
    "embeddings": ("Each number selects a row of the table E.", "번호마다 표 E의 한 행을 고른다."),
    "scaled embeddings": (
        "Rows are multiplied by √d_model, so that they are as large as the positions that are added to them.",
        "행에 √d_model을 곱해 더해질 위치 인코딩과 크기를 맞춘다.",
    ),
    "positions": (
        "A vector for each position; without it the order of the words would be lost.",
        "위치마다 벡터가 하나씩 있다. 이것이 없으면 어순을 알 수 없다.",
    ),
    "input": ("The sum is what the first layer reads.", "이 합이 첫 번째 층의 입력이다."),
    "normalised input": ("This model normalises before each sublayer.", "이 모델은 각 하위 층 앞에서 정규화한다."),
    "Q": ("Queries of the head: what each position looks for.", "이 헤드의 쿼리: 각 위치가 찾는 것."),
    "K": ("Keys of the head: what each position offers.", "이 헤드의 키: 각 위치가 내놓는 것."),
    "V": ("Values of the head: what is taken from a position.", "이 헤드의 밸류: 각 위치에서 가져가는 것."),
    "scores": (
        "Every query times every key: how well they match.",
        "모든 쿼리와 모든 키의 내적: 얼마나 잘 맞는지.",
    ),
    "scaled scores": (
        "Divided by √d_k, so that the softmax does not saturate.",
        "√d_k로 나누어 소프트맥스가 포화되지 않게 한다.",
    ),
    "masked scores": (
        "What comes later is set to -∞: a word must not see the words that it is to predict.",
        "뒤에 오는 것은 -∞로 둔다. 예측할 단어를 미리 보면 안 되기 때문이다.",
    ),
    "weights": (
        "Each row becomes weights that sum to 1; -∞ becomes 0.",
        "각 행은 합이 1인 가중치가 된다. -∞는 0이 된다.",
    ),
    "head": ("Values averaged with these weights.", "이 가중치로 밸류를 가중 평균한다."),
    "concatenation": ("The results of all heads, side by side.", "모든 헤드의 결과를 나란히 잇는다."),
    "attention": ("W^O mixes the heads.", "W^O가 헤드들을 섞는다."),
    "sum": ("The input of the sublayer is added (residual connection).", "하위 층의 입력을 더한다(잔차 연결)."),
    "LayerNorm": (
        "Each row is brought to mean 0 and variance 1, then scaled and shifted by learned numbers.",
        "각 행을 평균 0, 분산 1로 맞춘 뒤 학습한 값을 곱하고 더한다.",
    ),
    "inner": (
        "The feed-forward network, the same for each position: its inner layer.",
        "피드포워드 네트워크의 안쪽 층. 모든 위치에 똑같이 적용된다.",
    ),
    "feed-forward": ("Its outer layer brings the width back to d_model.", "바깥 층이 너비를 다시 d_model로 되돌린다."),
    "logits": (
        "A score for every subword of the vocabulary (the first ones are shown).",
        "어휘의 모든 서브워드에 대한 점수(처음 몇 개만 보여 준다).",
    ),
    "probabilities": (
        "The softmax of the scores, shown for the likeliest subwords: each row predicts the next one.",
        "점수의 소프트맥스. 확률이 높은 서브워드만 보여 준다. 각 행이 다음 서브워드를 예측한다.",
    ),
    "hypotheses": (
        "The beam's translations, ranked by their log-probability over the length penalty.",
        "빔에 남은 번역들. 로그 확률을 길이 페널티로 나눈 값으로 순위를 매긴다.",
    ),
}
"""English and Korean, for each name of a step."""


def text_of(name: str) -> tuple[str, str]:
    """English and Korean text of a step."""
    if name.startswith("layer "):
        number = name.removeprefix("layer ")
        return f"The output of layer {number}.", f"{number}번째 층의 출력."
    return STEPS[name.removesuffix(" of the network")]
