# SPDX-License-Identifier: Apache-2.0
"""custom_profiler_config with the cupti_monitor backend: which values are taken, which are refused; its files."""

import copy
import gzip
import json
import pickle
import threading
import warnings

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.framework("torch")


def config_of(ours, text):
    return ours._ExperimentalConfig(custom_profiler_config=text)


# ---- acceptance ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["cupti_monitor", '{"backend": "cupti_monitor"}', '{"cupti_monitor": true}'])
def test_the_backend_is_asked_for_in_three_ways(text):
    import opscope.torch as ours

    assert ours.profile(experimental_config=config_of(ours, text))._monitor is not None


def test_it_wants_activity_of_the_cpu():
    import opscope.torch as ours

    with pytest.raises(ValueError, match="^cupti_monitor profiler backend currently requires CPU activity$"):
        ours.profile(activities=[ours.ProfilerActivity.CUDA], experimental_config=config_of(ours, "cupti_monitor"))


def test_its_exports_are_refused_beside_any_other():
    import opscope.torch as ours

    words = "^cupti_monitor_async_export is only supported with the cupti_monitor backend$"
    with pytest.raises(ValueError, match=words):
        ours.profile(experimental_config=config_of(ours, '{"cupti_monitor_async_export": false}'))


@pytest.mark.parametrize(
    ("key", "value", "kind", "words"),
    [
        ("pftrace_compression_level", "x", ValueError, "invalid literal for int"),
        ("pftrace_compression_level", None, TypeError, "int\\(\\) argument must be"),
        ("pm_metrics", 5, TypeError, "'int' object is not iterable"),
    ],
)
def test_values_are_refused_when_a_recording_is_prepared(key, value, kind, words):
    import opscope.torch as ours

    prof = ours.profile(experimental_config=config_of(ours, json.dumps({"backend": "cupti_monitor", key: value})))
    with pytest.raises(kind, match=words):
        prof.start()


@pytest.mark.parametrize("text", ["x", "[1]", '{"backend": "another"}'])
def test_other_collectors_are_refused_by_name(text):
    import opscope.torch as ours

    with pytest.raises(ours.UnsupportedFeature, match="there is no other collector to set up"):
        ours.profile(experimental_config=config_of(ours, text))


def without_attribute():
    """A class of configs as torch 2.10 to 2.12 have it: the argument is in the state, and no attribute reads it."""
    from torch._C._profiler import _ExperimentalConfig

    class Config(_ExperimentalConfig):
        @property
        def custom_profiler_config(self):
            raise AttributeError("custom_profiler_config")

    return Config


@pytest.mark.torch_has("_ExperimentalConfig(custom_profiler_config)")
def test_the_text_is_read_of_the_state_where_torch_has_no_attribute_for_it():
    import opscope.torch as ours

    config = without_attribute()
    assert not hasattr(config(custom_profiler_config="cupti_monitor"), "custom_profiler_config")
    asked = config(custom_profiler_config="cupti_monitor", verbose=True)
    assert ours.profile(experimental_config=asked)._monitor is not None
    assert ours.profile(experimental_config=config(verbose=True))._monitor is None
    with pytest.raises(ours.UnsupportedFeature, match="there is no other collector to set up"):
        ours.profile(experimental_config=config(custom_profiler_config="another"))
    with pytest.raises(ValueError, match="currently requires CPU activity"):
        ours.profile(activities=[ours.ProfilerActivity.CUDA], experimental_config=asked)


def test_what_has_no_effect_is_said_in_one_line_once():
    import opscope.torch as ours

    keys = {"cupti_monitor": 1, "enable_pm_sampling": True, "pm_metrics": ["sm__cycles_active.avg"], "enable_x": 1}
    prof = ours.profile(experimental_config=config_of(ours, json.dumps(keys)))
    told = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with prof:
                pass
        told.append([str(each.message) for each in caught if "custom_profiler_config" in str(each.message)])
    assert told[1] == []
    sampling, unknown = told[0]
    assert "enable_pm_sampling has no effect: PM sampling needs" in sampling
    assert "enable_x is not a key of cupti_monitor" in unknown


def test_a_config_has_the_field_also_where_torch_has_none(monkeypatch):
    import torch._C._profiler

    from opscope.torch import experimental_config

    kind = experimental_config.with_monitor_field(torch._C._profiler._ExperimentalConfig)
    monkeypatch.setattr(experimental_config, "_ExperimentalConfig", kind)  # as it is there
    config = kind(verbose=True, custom_profiler_config="cupti_monitor")
    plain = torch._C._profiler._ExperimentalConfig(verbose=True)
    configs = [config]
    try:
        copy.copy(plain)
    except RuntimeError:  # torch 2.6 cannot read the state that it has written
        pass
    else:
        configs += [copy.copy(config), pickle.loads(pickle.dumps(config))]
    for same in configs:
        assert same.custom_profiler_config == "cupti_monitor"
        assert isinstance(same, torch._C._profiler._ExperimentalConfig)
        assert plain.__getstate__()[:3] == torch._C._profiler._ExperimentalConfig.__getstate__(same)[:3]


# ---- files -----------------------------------------------------------------------------------


def test_files_are_compressed_and_perfettos_by_their_names(tmp_path):
    import torch

    import opscope
    import opscope.torch as ours

    config = config_of(ours, "cupti_monitor")
    with ours.profile(activities=[ours.ProfilerActivity.CPU], experimental_config=config) as p:
        torch.ones(2).add(1.0)
    p.export_chrome_trace(str(tmp_path / "plain.json"))
    p.export_chrome_trace(str(tmp_path / "zipped.json.gz"))
    with pytest.warns(opscope.ExportWarning, match="entries of metadata"):
        p.export_chrome_trace(str(tmp_path / "x.pftrace"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain.json.gz", "x.pftrace.gz", "zipped.json.gz"]
    document = json.loads(gzip.decompress((tmp_path / "plain.json.gz").read_bytes()))
    assert "aten::add" in [event["name"] for event in document["traceEvents"]]
    protobuf = gzip.decompress((tmp_path / "x.pftrace.gz").read_bytes())
    assert protobuf[:1] == b"\x0a" and b"aten::add" in protobuf


def test_a_higher_level_makes_smaller_files_of_perfettos(tmp_path):
    import torch

    import opscope.torch as ours

    sizes = []
    for level in (0, 1, 9):
        text = json.dumps({"backend": "cupti_monitor", "pftrace_compression_level": level})
        with ours.profile(activities=[ours.ProfilerActivity.CPU], experimental_config=config_of(ours, text)) as prof:
            for _ in range(500):
                torch.ones(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            prof.export_chrome_trace(str(tmp_path / "x.pftrace"))
        sizes.append((tmp_path / "x.pftrace.gz").stat().st_size)
    assert sizes[0] > 3 * sizes[1] > 3 * sizes[2]


def test_an_export_runs_beside_the_program_and_is_waited_for(tmp_path, monkeypatch):
    import opscope.torch as ours
    from opscope.torch import kineto_profile

    text = '{"backend": "cupti_monitor", "cupti_monitor_async_export": true}'
    prof = ours.profile(activities=[ours.ProfilerActivity.CPU], experimental_config=config_of(ours, text))
    with prof:
        pass
    may_write, threads = threading.Event(), []
    write = kineto_profile.write_file

    def write_when_allowed(*arguments):
        threads.append(threading.current_thread())
        may_write.wait()
        return write(*arguments)

    monkeypatch.setattr(kineto_profile, "write_file", write_when_allowed)
    prof.export_chrome_trace(str(tmp_path / "x.json"))
    assert not (tmp_path / "x.json.gz").exists()
    may_write.set()
    prof.wait_for_exports()
    assert (tmp_path / "x.json.gz").exists()
    assert threads[0] is not threading.current_thread() and not threads[0].daemon
    prof.wait_for_exports()  # nothing is left


def test_what_an_export_beside_the_program_raises_is_raised_where_it_is_waited_for(tmp_path):
    import opscope.torch as ours

    text = '{"backend": "cupti_monitor", "cupti_monitor_async_export": true}'
    prof = ours.profile(activities=[ours.ProfilerActivity.CPU], experimental_config=config_of(ours, text))
    with prof:
        pass
    prof.export_chrome_trace(str(tmp_path / "nowhere" / "x.json"))
    with pytest.raises(OSError, match="nowhere"):
        prof.wait_for_exports()


@pytest.mark.torch_has("_KinetoProfile.take_pending_cupti_export")
def test_an_export_can_be_waited_for_on_another_thread(tmp_path):
    import opscope.torch as ours

    text = '{"backend": "cupti_monitor", "cupti_monitor_async_export": true}'
    prof = ours.profile(activities=[ours.ProfilerActivity.CPU], experimental_config=config_of(ours, text))
    with prof:
        pass
    assert prof.take_pending_cupti_export() is None
    prof.export_chrome_trace(str(tmp_path / "x.json"))
    pending = prof.take_pending_cupti_export()
    assert prof.take_pending_cupti_export() is None
    worker = threading.Thread(target=pending.join, kwargs={"force": False})
    worker.start()
    worker.join()
    assert (tmp_path / "x.json.gz").exists()


def test_of_several_files_that_fail_none_is_lost():
    """One exception is raised, and the others are warnings."""
    from opscope.torch.monitor_export import Exports

    def fail(text):
        raise OSError(text)

    exports = Exports()
    for name in ("a", "b", "c"):
        exports.write(name, lambda name=name: fail(f"no {name}") if name != "b" else "", later=True)
    with pytest.warns(UserWarning, match="c was not written: OSError: no c"), pytest.raises(OSError, match="no a"):
        exports.join()
    exports.join()
