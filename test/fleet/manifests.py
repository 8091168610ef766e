# SPDX-License-Identifier: GPL-2.0-or-later
"""manifests.py FILE.md DIR: the YAML blocks of a Markdown file, checked for what Kubernetes would refuse or
what would not work; writes the spec file and the init container's script of the DaemonSet into DIR."""
import pathlib
import re
import sys

import yaml


class Loader(yaml.SafeLoader):
    """Refuses a key that is there twice."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        assert len(keys) == len(set(keys)), "a key is there twice: %s" % keys
        return super().construct_mapping(node, deep)


def only(objects, kind):
    found = [one for one in objects if one["kind"] == kind]
    assert len(found) == 1, "%d objects are a %s" % (len(found), kind)
    return found[0]


def known(mapping, keys, where):
    extra = set(mapping) - set(keys.split())
    assert not extra, "%s: unknown keys %s" % (where, sorted(extra))


def check_mounts(spec):
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    used = set()
    for container in spec.get("initContainers", []) + spec["containers"]:
        known(container, "name image command args securityContext terminationMessagePolicy volumeMounts"
              " resources", container["name"])
        for mount in container.get("volumeMounts", []):
            known(mount, "name mountPath readOnly", mount["name"])
            assert mount["mountPath"].startswith("/")
            assert mount["name"] in volumes, "no volume %s" % mount["name"]
            used.add(mount["name"])
    assert used == set(volumes), "a volume is not used: %s" % (set(volumes) - used)
    return volumes


def check_daemonset(daemonset, configmap, to):
    assert daemonset["apiVersion"] == "apps/v1"
    known(daemonset["spec"], "selector updateStrategy template", "spec")
    template = daemonset["spec"]["template"]
    labels = daemonset["spec"]["selector"]["matchLabels"].items()
    assert labels and labels <= template["metadata"]["labels"].items(), "the selector selects other pods"
    spec = template["spec"]
    known(spec, "nodeSelector tolerations priorityClassName automountServiceAccountToken hostPID"
          " initContainers containers volumes", "pod")
    assert spec["nodeSelector"], "it would run on every node"
    assert all(isinstance(value, str) for value in spec["nodeSelector"].values())
    (init,) = spec["initContainers"]
    assert init["securityContext"]["privileged"] is True, "it may write no pool"
    assert "resources" not in init, "a privileged call that is killed for memory"
    volumes = check_mounts(spec)
    assert volumes["run"]["hostPath"]["path"] == "/run", "the lock is not the node's"
    assert volumes["conf"]["configMap"]["name"] == configmap["metadata"]["name"]
    assert configmap["metadata"]["namespace"] == daemonset["metadata"]["namespace"]
    # /run of the host may carry no mount of the runtime's.
    assert spec["automountServiceAccountToken"] is False
    (script,) = init["args"]
    if "nsenter" in script:
        assert spec["hostPID"] is True, "process 1 is the container's"
    (mounted,) = [mount["mountPath"] for mount in init["volumeMounts"] if mount["name"] == "conf"]
    (name,) = configmap["data"]
    assert "--from=%s/%s" % (mounted, name) in script, "the file lies elsewhere"
    pathlib.Path(to, "script").write_text(script)
    pathlib.Path(to, name).write_text(configmap["data"][name])


def check_pod(pod):
    check_mounts(pod["spec"])
    (container,) = pod["spec"]["containers"]
    (volume,) = pod["spec"]["volumes"]
    resource = volume["emptyDir"]["medium"].replace("HugePages", "hugepages")
    limits, requests = container["resources"]["limits"], container["resources"]["requests"]
    assert requests[resource] == limits[resource], "huge pages cannot be overcommitted"
    assert "memory" in requests or "cpu" in requests, "huge pages alone cannot be requested"


def main(source, to):
    text = pathlib.Path(source).read_text()
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    objects = [one for block in blocks for one in yaml.load_all(block, Loader)]
    for one in objects:
        assert one["apiVersion"] and one["metadata"]["name"], one
    check_daemonset(only(objects, "DaemonSet"), only(objects, "ConfigMap"), to)
    check_pod(only(objects, "Pod"))


main(*sys.argv[1:])
