"""Token streams of nodes and branches: aligned to the tokens of the path, or an error that says where not."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

import evh
from evh.errors import RecordError, UsageError
from evh.protocol.models import SamplingMask, Tensor

PROMPT = {"token_ids": [1, 2, 3], "mask": [False] * 3}
REPLY = {"token_ids": [4, 5, 6], "mask": [False, True, True], "logprobs": [-0.5, -0.25]}


def tensor(rows: int, value: int = 7, dtype: str = "uint8", inner: tuple[int, ...] = (2, 1)) -> Tensor:
    return Tensor.of(np.full((rows, *inner), value, dtype=dtype))


def counts(values: list[int], dtype: str = "int32") -> Tensor:
    return Tensor.of(np.array(values, dtype=dtype))


def branch(make: Any, first: dict[str, Any], second: dict[str, Any]) -> Any:
    return make.trace([make.node(**first), make.reply(0, **second)]).branches[0]


def test_tokens_and_masks_are_joined_and_sampled_values_spread(make: Any) -> None:
    path = branch(make, PROMPT, REPLY)
    assert path.token_ids == [1, 2, 3, 4, 5, 6]
    assert path.sampled_mask == [False, False, False, False, True, True]
    assert path.logprobs == [0.0, 0.0, 0.0, 0.0, -0.5, -0.25]


def test_spread_follows_the_mask_wherever_the_sampled_tokens_stand(make: Any) -> None:
    path = branch(make, PROMPT, {"token_ids": [4, 5, 6], "mask": [True, False, True], "logprobs": [-1.0, -2.0]})
    assert path.logprobs[3:] == [-1.0, 0.0, -2.0]


@pytest.mark.parametrize(("given", "read"), [([-1.0], [0.0, -1.0, 0.0]), ([-1.0, -2.0, -3.0], [0.0, -1.0, -2.0])])
def test_missing_values_read_as_zero_and_surplus_ones_are_ignored(make: Any, given: Any, read: Any) -> None:
    assert branch(make, PROMPT, {**REPLY, "logprobs": given}).logprobs[3:] == read


@pytest.mark.parametrize("name", ["advantages", "reference_logprobs", "trainer_logprobs", "entropies"])
def test_never_assigned_is_none_and_not_zeros(make: Any, name: str) -> None:
    assert getattr(branch(make, PROMPT, REPLY), name) is None
    assert getattr(branch(make, PROMPT, {**REPLY, name: []}), name) == [0.0] * 6
    assert getattr(branch(make, PROMPT, {**REPLY, name: [1.5, 2.5]}), name) == [0.0, 0.0, 0.0, 0.0, 1.5, 2.5]


@pytest.mark.parametrize("name", ["sampled_mask", "logprobs"])
def test_a_mask_of_another_length_is_an_error_and_not_a_shifted_sample(make: Any, name: str) -> None:
    path = branch(make, PROMPT, {**REPLY, "mask": [True, True]})
    with pytest.raises(RecordError) as caught:
        getattr(path, name)
    assert caught.value.pointer == "/nodes/1/mask"


def test_loss_weights_are_per_token_and_zero_where_a_node_has_none(make: Any) -> None:
    path = branch(make, PROMPT, {**REPLY, "loss_weights": {"echo": [0.1, 0.2, 0.3]}})
    assert path.loss_weights("echo") == [0.0, 0.0, 0.0, 0.1, 0.2, 0.3]
    assert path.loss_weights("other") is None
    with pytest.raises(RecordError) as caught:
        branch(make, PROMPT, {**REPLY, "loss_weights": {"echo": [0.1]}}).loss_weights("echo")
    assert caught.value.pointer == "/nodes/1/loss_weights"


def test_routed_experts_are_joined_when_every_node_with_tokens_has_them(make: Any) -> None:
    path = branch(make, {**PROMPT, "routed_experts": tensor(3, 1)}, {**REPLY, "routed_experts": tensor(3, 2)})
    assert path.routed_experts.numpy().tolist() == [[[1], [1]]] * 3 + [[[2], [2]]] * 3
    assert path.array("routed_experts").shape == (6, 2, 1)
    assert branch(make, PROMPT, {**REPLY, "routed_experts": tensor(3)}).routed_experts is None
    assert branch(make, {}, {**REPLY, "routed_experts": tensor(3)}).routed_experts.shape == [3, 2, 1]
    assert branch(make, {}, {**REPLY, "routed_experts": tensor(2)}).routed_experts is None
    assert branch(make, {}, {}).routed_experts is None


@pytest.mark.parametrize(
    "odd",
    [
        tensor(3, dtype="uint16"),
        tensor(3, inner=(3, 1)),
        Tensor(dtype="uint8", shape=[3, 2, 1], data=b"12345"),
        Tensor(dtype="uint8", shape=[], data=b"1"),
        Tensor(dtype="mystery", shape=[3, 2, 1], data=b"1234567"),
    ],
    ids=["dtype", "inner-shape", "too-few-bytes", "no-axes", "unknown-dtype"],
)
def test_tensors_that_do_not_fit_together_are_an_error(make: Any, odd: Tensor) -> None:
    path = branch(make, {**PROMPT, "routed_experts": tensor(3)}, {**REPLY, "routed_experts": odd})
    with pytest.raises(RecordError) as caught:
        _ = path.routed_experts
    assert caught.value.pointer == "/nodes/1/routed_experts"


@pytest.mark.parametrize("dtype", ["int32", "<i4", ">i4", "int64", "uint16"])
def test_sampling_masks_are_scattered_to_the_sampled_tokens(make: Any, dtype: str) -> None:
    def whole(values: list[int]) -> Tensor:
        made = Tensor.of(np.array(values, dtype=dtype))
        return Tensor(dtype=dtype, shape=made.shape, data=made.data)

    mask = SamplingMask(ids=whole([10, 11, 12]), counts=whole([2, 1]))
    held = branch(make, PROMPT, {**REPLY, "sampling_mask": mask}).sampling_mask
    assert held.counts.numpy().tolist() == [0, 0, 0, 0, 2, 1]
    assert held.ids.numpy().tolist() == [10, 11, 12]
    assert (held.ids.dtype, held.counts.dtype) == ("int32", "int32")


def test_a_sampling_mask_may_be_absent_or_empty_but_not_of_another_length(make: Any) -> None:
    assert branch(make, PROMPT, REPLY).sampling_mask is None
    empty = SamplingMask(ids=counts([]), counts=counts([]))
    assert branch(make, PROMPT, {**REPLY, "sampling_mask": empty}).sampling_mask.counts.shape == [6]
    for bad, at in [
        (SamplingMask(ids=counts([1]), counts=counts([1])), "counts"),
        (SamplingMask(ids=counts([1], "float32"), counts=counts([1, 0])), "ids"),
    ]:
        with pytest.raises(RecordError) as caught:
            _ = branch(make, PROMPT, {**REPLY, "sampling_mask": bad}).sampling_mask
        assert caught.value.pointer == f"/nodes/1/sampling_mask/{at}"
    wide = SamplingMask(ids=Tensor(dtype="int64", shape=[1], data=array("q", [2**40]).tobytes()), counts=counts([1, 0]))
    with pytest.raises(RecordError, match="32 bits"):
        _ = branch(make, PROMPT, {**REPLY, "sampling_mask": wide}).sampling_mask


def test_multi_modal_items_are_joined_by_modality(make: Any) -> None:
    from evh.protocol._tensor import WireObject

    def images(*names: str) -> Any:
        return WireObject({"mm_hashes": {"image": list(names)}, "mm_items": {"image": [{"n": n} for n in names]}})

    path = branch(make, {"multi_modal_data": images("a")}, {"multi_modal_data": images("b", "c")})
    assert path.multi_modal_data == {
        "mm_items": {"image": [{"n": "a"}, {"n": "b"}, {"n": "c"}]},
        "mm_hashes": {"image": ["a", "b", "c"]},
    }
    assert branch(make, {"multi_modal_data": WireObject({})}, {}).multi_modal_data is None
    with pytest.raises(RecordError):
        _ = branch(make, {"multi_modal_data": WireObject({"mm_items": [1]})}, {}).multi_modal_data


def test_modality_marks_come_from_the_trace(make: Any) -> None:
    nodes = [make.node(**PROMPT)]
    assert make.trace(nodes, mm_token_type_id_map={"2": 1}).branches[0].mm_token_type_ids == [0, 1, 0]
    assert make.trace(nodes, mm_token_type_id_map={"9": 1}).branches[0].mm_token_type_ids is None
    assert make.trace(nodes).branches[0].mm_token_type_ids is None
    with pytest.raises(RecordError):
        _ = make.trace(nodes, mm_token_type_id_map={"two": 1}).branches[0].mm_token_type_ids


def test_arrays_on_request(make: Any) -> None:
    node = make.reply(None, **REPLY, routed_experts=tensor(3))
    assert node.array("token_ids").dtype == np.int64
    assert node.array("mask").tolist() == [False, True, True]
    assert node.array("logprobs").dtype == np.float64
    assert node.array("advantages") is None
    assert node.array("routed_experts").shape == (3, 2, 1)
    path = make.trace([node]).branches[0]
    assert path.array("logprobs").tolist() == [0.0, -0.5, -0.25]
    assert path.array("entropies") is None
    with pytest.raises(UsageError, match="token_ids"):
        node.array("tokens")
    with pytest.raises(UsageError, match="sampled_mask"):
        path.array("mask")
    with pytest.raises(RecordError) as caught:
        make.node(token_ids=[2**70], mask=[False]).array("token_ids")
    assert caught.value.pointer == "/token_ids"


def test_a_stream_that_does_not_parse_is_an_error_with_its_full_pointer(read: Any) -> None:
    row = (
        b'{"id":"e","task":{"type":"T","data":{}},"traces":[{"id":"t","task":{"type":"T","data":{}},'
        b'"agent":{"config":{}},"timing":{"start":1},"nodes":[{"message":{"role":"user","content":""},'
        b'"token_ids":[1,"x"],"mask":"text","logprobs":[1e400]}]}]}'
    )
    path = read(row).traces[0].branches[0]
    for name, at in [("token_ids", "token_ids"), ("logprobs", "mask")]:
        with pytest.raises(RecordError) as caught:
            getattr(path, name)
        assert caught.value.pointer == f"/nodes/0/{at}"
    with pytest.raises(RecordError) as caught:
        read(row).to_record()
    assert caught.value.pointer.startswith("/traces/0/nodes/0/")


def test_integers_of_a_stream_may_be_spelled_with_a_fraction_of_zero() -> None:
    text = b'{"message":{"role":"user","content":""},"token_ids":[1.0,2,3.0],"mask":[],"is_content":[]}'
    node = evh.decode(text, evh.MessageNode)
    assert b'"token_ids":[1.0,2,3.0]' in evh.encode(node)  # untouched, it is written as it stood
    assert node.token_ids == [1, 2, 3] and all(type(each) is int for each in node.token_ids)
    assert evh.decode_strict(text, evh.MessageNode) == node
    for other in (b"1.5", b"1e300", b"1" * 400, b"true"):
        with pytest.raises(RecordError, match="does not fit"):
            _ = evh.decode(text.replace(b"1.0", other), evh.MessageNode).token_ids
