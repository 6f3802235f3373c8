import { clockOf } from './clock.ts';
import { type ContainerLog, LOGS } from './containers.ts';
import { Draw, zipfRank } from './random.ts';

const NODES = 20;
const PODS = 240;
/** A pod is replaced by one of another name after so many events of the cluster, on average. */
const POD_EVENTS = 2_000_000;

/** A container that runs: what Fluent Bit adds to each of its lines, and what it writes. */
interface Container {
  log: ContainerLog;
  metadata: string;
}

/** Metadata as the Kubernetes filter of Fluent Bit adds them. */
function containerOf(log: ContainerLog, draw: Draw): Container {
  const { app, namespace } = log;
  const template = draw.hex(10);
  const pod = `${app}-${template}-${draw
    .below(36 ** 5)
    .toString(36)
    .padStart(5, '0')}`;
  const version = `1.${draw.below(40)}.${draw.below(9)}`;
  const podId = `${draw.hex(8)}-${draw.hex(4)}-4${draw.hex(3)}-a${draw.hex(3)}-${draw.hex(12)}`;
  const labels = `{"app.kubernetes.io/name":"${app}","app.kubernetes.io/version":"${version}","pod-template-hash":"${template}"}`;
  const annotations = `{"prometheus.io/scrape":"true","checksum/config":"${draw.hex(16)}"}`;
  const metadata = `"kubernetes":{"pod_name":"${pod}","namespace_name":"${namespace}","pod_id":"${podId}","labels":${labels},"annotations":${annotations},"host":"node-${1 + draw.below(NODES)}","container_name":"${app}","docker_id":"${draw.hex(64)}","container_image":"registry.example/${namespace}/${app}:${version}"}`;
  return { log, metadata };
}

/**
 * Makes the container logs of a cluster as Fluent Bit ships them, a JSON object each, about 725 bytes: 20 nodes, 240
 * pods (Zipf 0.9) of 24 applications that write JSON of several loggers, klog, access lines, logfmt, Java exceptions
 * and plain text. What is JSON stands at the top when Fluent Bit merges it and as text in `log` when it does not;
 * everything else is text in `log`. `kubernetes` holds pod, namespace, labels, annotations, host and image; pods are
 * replaced by others with new names as time goes by.
 */
export function kubernetes(seed: number): () => string {
  const draw = new Draw(seed);
  const start = (place: number): Container => containerOf(LOGS[place % LOGS.length], draw);
  const containers = Array.from({ length: PODS }, (_, place) => start(place));
  const rank = zipfRank(PODS, 0.9, draw.next);
  const clock = clockOf(draw);
  return () => {
    if (draw.below(POD_EVENTS / PODS) === 0) {
      const place = draw.below(PODS);
      containers[place] = start(place);
    }
    const { log, metadata } = containers[rank()];
    const timeMs = clock();
    const micros = String(draw.below(1_000)).padStart(3, '0');
    const { stream, members } = log.write({ timeMs, micros, draw });
    const second = Math.floor(timeMs / 1_000);
    const date = `${second}.${String(timeMs % 1_000).padStart(3, '0')}${micros}`;
    return `{"date":${date},"stream":"${stream}","logtag":"F",${members},${metadata}}`;
  };
}
