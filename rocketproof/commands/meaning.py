"""Finding by meaning: what is called otherwise than one thinks, in English or Chinese."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

CONCEPTS: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in """
    crash die died dies dead death kill killed 宕机 崩溃 挂了 挂掉 死亡
    twice again second duplicate repeat repeated idempotent idempotence redelivered 重复 幂等 两次
    deliver delivered delivery delivers consumed come comes 投递 消费
    lost lose loses loss skip skipped past miss missing 丢消息 丢失 丢 漏 跳过
    join joins joining joiner member 扩容 上线 加入
    leave leaving leaver stop shutdown 缩容 下线 停机 关闭
    rebalance assignment allocation allocate reallocated partition share divide 重平衡 负载均衡 再均衡 队列分配 分配
    owner own owns owned consumer 归属 持有 消费者
    overlap two both 同时
    gap nobody orphan unowned idle 没人消费 无人消费 空闲
    retry retries reconsume tries attempt attempts back 重试 重投
    fail failed failure fails exception throw null 失败 异常
    dead-letter dlq dead-lettered letter 死信队列 死信
    delay delayed schedule level wait 延迟 延时 定时
    offset position mark committed commit 消费位点 位点 消费进度 进度
    reset 重置位点 重置 回溯
    orderly order ordered sequence 顺序消费 顺序 有序
    lock locked unlock 加锁 分布式锁 锁
    broadcast broadcasting 广播消费 广播
    filter filtered tag tags subscription subscribe subscribed expression wanted asks 订阅关系 订阅 过滤 标签
    timeout expire expired expiry slow hang hung hangs long 超时 卡住 卡死 慢
    pause paused gc 停顿 暂停
    new first 新消费组 新组 新
    pull pulls poll polling push 长轮询 拉取 拉 推送 推
    broker server 服务端
    restart reboot 重启
    end ends eventually heal heals 最终 恢复 收敛
    stuck progress backlog lag 堆积 积压 不消费
    queue 队列
    message 消息
    listener 监听器 消费线程
    batch ackindex 批量
    view list views 视图
    same id clientid 实例名
    """.strip().splitlines()
)
"""Words for the same thing: a question may use one where a statement has another."""

PHRASES: Mapping[str, str] = {
    "scale out": "join",
    "scaling out": "join",
    "scale up": "join",
    "scale in": "leave",
    "scaling in": "leave",
    "scale down": "leave",
    "dead letter": "dead-letter",
    "dead-letter": "dead-letter",
    "go back": "offset",
    "too long": "timeout",
    "stop the world": "pause",
}
"""Words that mean something only together."""

_LITTLE_WORDS = """
a an and are as at be by does for has i in is it its my of on or that the to was what when where why
"""
IGNORED = frozenset(_LITTLE_WORDS.split())


@dataclass(frozen=True)
class Entry:
    """Something that can be found: its name, and the sentences that say what it is."""

    name: str
    text: str


def find(words: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries about ``words``, best first.

    Words in few entries count most, words of a name twice, and words in a long text less than in a short one. An entry
    that is about a part of what was asked counts by that part.
    """
    asked = list(dict.fromkeys(_terms(words)))
    known = [(entry, _terms(entry.name.replace("-", " ")), _terms(entry.text)) for entry in entries]
    rarity = _rarity([{*name, *text} for _, name, text in known])
    usual = sum(len(name) + len(text) for _, name, text in known) / max(len(known), 1)

    def score(name: Sequence[str], text: Sequence[str]) -> float:
        found = [term for term in asked if term in name or term in text]
        points = sum(rarity[term] * (2 * (term in name) + (term in text)) for term in found)
        length = 0.7 + 0.3 * (len(name) + len(text)) / usual
        return points / length * len(found) / len(asked)

    scored = [(score(name, text), entry) for entry, name, text in known] if asked else []
    best = max((points for points, _ in scored), default=0.0)
    # What has only a common word of the question is not about it.
    found = [(points, entry) for points, entry in scored if points > 0 and points >= best / 3]
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]


def _rarity(entries: Sequence[set[str]]) -> dict[str, float]:
    counts = Counter(term for entry in entries for term in entry)
    return {term: math.log(1 + len(entries) / count) for term, count in counts.items()}


def _terms(text: str) -> list[str]:
    """What a text is about, as one word for each concept."""
    rest = text.lower()
    terms = []
    for phrase, concept in _phrases():
        if phrase in rest:
            rest = rest.replace(phrase, " ")
            terms.append(concept)
    words = re.findall(r"[a-z0-9]+", rest)
    terms += [_concept(word) for word in words if word not in IGNORED]
    return terms


@cache
def _phrases() -> list[tuple[str, str]]:
    """Chinese words, which nothing separates, and English phrases, the longest first; each with its concept."""
    chinese = {word: concept[0] for concept in CONCEPTS for word in concept if not word.isascii()}
    together = {phrase: _concept(meaning) for phrase, meaning in PHRASES.items()}
    return sorted({**together, **chinese}.items(), key=lambda pair: -len(pair[0]))


def _concept(word: str) -> str:
    concepts = _concepts()
    for form in (word, word.removesuffix("s"), word.removesuffix("ed"), word.removesuffix("ing")):
        if form in concepts:
            return concepts[form]
    return word.removesuffix("s")


@cache
def _concepts() -> dict[str, str]:
    return {word: concept[0] for concept in reversed(CONCEPTS) for word in concept if word.isascii()}
