"""Trained variants against a baseline: table, figures, and a sentence for each that follows from the numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tongsa.lab.figures import intervals, lines
from tongsa.lab.question import Answer, Mean, Values, Words, difference, mean_of

Verdict = Literal["worse", "better", "alike"]


@dataclass(frozen=True, kw_only=True)
class Variants:
    """What `train_variants` returned, to be compared; the first name is the baseline."""

    results: Mapping[str, Sequence[Values]]
    names: Mapping[str, str]
    """What each is called, in the language of the answer."""
    words: Words

    @property
    def base(self) -> str:
        return next(iter(self.names))

    def of(self, name: str, what: str) -> list[float]:
        return [float(result[what]) for result in self.results[name]]

    def mean(self, name: str, what: str) -> Mean:
        return mean_of(self.of(name, what))

    def diverged(self, name: str) -> int:
        """Trainings that ended because the gradient was not finite."""
        return sum(bool(result["diverged"]) for result in self.results[name])

    def verdict(self, name: str, what: str = "perplexity", than: str = "") -> Verdict:
        """Compare with the baseline (or `than`), seed by seed: better or worse if the interval of 95% excludes 0.

        Perplexities are compared by their logarithms: the loss.
        """
        read = (lambda value: -math.log(max(value, 1.0))) if what == "perplexity" else float
        gained = difference(*(list(map(read, self.of(each, what))) for each in (name, than or self.base)))
        if gained.low > 0:
            return "better"
        return "worse" if gained.high < 0 else "alike"

    def told(self, name: str) -> str:
        """How a variant did against the baseline."""
        ours, base = self.mean(name, "perplexity").mean, self.mean(self.base, "perplexity").mean
        bleu, base_bleu = self.mean(name, "bleu").mean, self.mean(self.base, "bleu").mean
        right, base_right = self.mean(name, "right").mean, self.mean(self.base, "right").mean
        english = {"worse": "clearly worse", "better": "clearly better", "alike": "no clear difference"}
        korean = {"worse": "확실히 나쁨", "better": "확실히 좋음", "alike": "뚜렷한 차이 없음"}
        verdict, by_bleu = self.verdict(name), self.verdict(name, "bleu")
        lost = self.diverged(name)
        end = self.words(f"; {lost} of the trainings diverged", f". 학습 {lost}번이 발산했다") if lost else ""
        return self.words(
            f"{self.names[name]}: perplexity {ours:.3g} against {base:.3g} ({english[verdict]}), BLEU {bleu:.1f} "
            f"against {base_bleu:.1f} ({english[by_bleu]}), {right:.0f}% of the sentences right against "
            f"{base_right:.0f}%{end}.",
            f"{self.names[name]}: 퍼플렉서티 {ours:.3g}, 기준 {base:.3g}({korean[verdict]}), BLEU {bleu:.1f}, 기준 "
            f"{base_bleu:.1f}({korean[by_bleu]}), 맞게 옮긴 문장 {right:.0f}%, 기준 {base_right:.0f}%{end}.",
        )

    def all_told(self) -> str:
        return " ".join(self.told(name) for name in self.names if name != self.base)

    def answer(self, lead: str) -> Answer:
        """What is concluded, and then each variant in numbers."""
        conclusion = f"{lead} {self.all_told()}"
        return Answer(conclusion=conclusion, head=self.head(), rows=self.rows(), figures=self.figures())

    def head(self) -> list[str]:
        words = self.words
        return [
            words("variant", "변형"),
            words("parameters", "매개변수"),
            words("perplexity", "퍼플렉서티"),
            "BLEU",
            words("right, %", "맞은 문장, %"),
            words("diverged", "발산"),
        ]

    def rows(self) -> list[list[str]]:
        return [
            [
                said,
                f"{int(self.of(name, 'parameters')[0]):,}",
                self.mean(name, "perplexity").text(2),
                self.mean(name, "bleu").text(1),
                self.mean(name, "right").text(1),
                f"{self.diverged(name)} / {len(self.results[name])}",
            ]
            for name, said in self.names.items()
        ]

    def figures(self) -> list[str]:
        words = self.words
        losses = {
            said: mean_of([math.log(max(value, 1.0)) for value in self.of(name, "perplexity")])
            for name, said in self.names.items()
        }
        return [
            intervals(
                words("Loss on held-out pairs", "검증 문장의 손실"),
                words("-log p of a token: lower is better", "토큰당 -log p: 낮을수록 좋음"),
                losses,
                note=words("means and 95% intervals over seeds", "시드 평균과 95% 구간"),
            ),
            intervals(
                words("Held-out sentences translated right", "맞게 옮긴 검증 문장"),
                words("percent, equal to the reference: higher is better", "정답과 같은 번역(%): 높을수록 좋음"),
                {said: self.mean(name, "right") for name, said in self.names.items()},
                note=words("means and 95% intervals over seeds", "시드 평균과 95% 구간"),
                digits=1,
            ),
            lines(
                words("Loss while training", "학습 중의 손실"),
                words("updates", "업데이트"),
                {said: self._curve(name) for name, said in self.names.items()},
                note=words("mean over seeds", "시드 평균"),
            ),
        ]

    def _curve(self, name: str) -> list[tuple[float, float]]:
        curves = [result["curve"] for result in self.results[name]]
        shortest = min(map(len, curves))  # a diverged training is shorter
        return [
            (curves[0][place][0], sum(min(curve[place][1], 20.0) for curve in curves) / len(curves))
            for place in range(shortest)
            if all(math.isfinite(curve[place][1]) for curve in curves)
        ]


def worse_or_not(verdict: Verdict, worse: str, alike: str, better: str) -> str:
    return {"worse": worse, "alike": alike, "better": better}[verdict]
