"""What both type checkers must refuse: each marked line, and no other."""

from __future__ import annotations

import evh


def mistakes(line: bytes, episode: evh.Episode, node: evh.MessageNode) -> None:
    evh.decode(3)  # refused
    evh.decode(line, format="yaml")  # refused
    print(evh.decode(line, evh.Trace).traces)  # refused
    print(evh.upgrade(line).recrod)  # refused
    evh.Episode()  # refused
    evh.Episode(task=evh.TraceTask(type="T", data=evh.TaskData({})), okay=True)  # refused
    evh.TraceTask(type="T", data=["not", "a", "task"])  # refused
    evh.TraceTask(type=3, data=evh.TaskData({}))  # refused
    evh.Usage(prompt_tokens="9", completion_tokens=1)  # refused
    evh.EvalRunInfo("r1")  # refused
    evh.TrainRunInfo(id="r1")  # refused
    print(episode.no_such_member)  # refused
    episode.ok = "yes"  # refused
    episode.record_run("r1")  # refused
    print(episode.run.id)  # refused
    first: str = node.token_ids[0]  # refused
    node.token_ids = ["a"]  # refused
    print(node.advantages[0])  # refused
    node.mask = None  # refused
    evh.read_episodes("f", mode="fast")  # refused
    evh.read_episodes("f", on_error="ignore")  # refused
    evh.EpisodeWriter("f", fsync="sometimes")  # refused
    evh.EpisodeWriter("f").write(line)  # refused
    print(evh.no_such_name)  # refused
    print(first)
