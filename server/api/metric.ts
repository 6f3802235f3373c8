import { nearestHint } from '../../engine/base/nearest.ts';
import type { Aggregation, Metric, MetricExpression, SimpleMetric } from '../../engine/engine.ts';
import { isAttributePath } from '../language/filter.ts';
import { FormulaError, type FormulaNode, parseFormula } from '../language/formula.ts';
import { shown } from '../language/shown.ts';
import { ApiError } from './reply.ts';
import type { Resolver } from './resolver.ts';

/** Id of the number of events. Source: INTERFACE.md 4.8. */
const CORE_METRIC = 'count';
/** Declared ids that a message lists. */
const IDS_SHOWN = 20;
/** Parts of a formula, once all formulas in it are written out. */
const PARTS_MAX = 2_000;

const AGGREGATIONS: ReadonlyMap<string, Aggregation> = new Map(
  (
    [
      ...['count', 'cardinality', 'sum', 'min', 'max', 'avg'],
      ...['median', 'pc75', 'pc90', 'pc95', 'pc98', 'pc99'],
    ] as Aggregation[]
  ).map((name) => [name, name]),
);

/** Meaning of a metric id; `unit` stands behind its formatted values. */
export interface ResolvedMetric {
  metric: Metric;
  unit?: string;
}

/**
 * The metric whose id is `id`: a declared one, else `count`, `<aggregation>:<path>` or `=<formula>`. Formulas are
 * written out. Throws ApiError 400 that names `parameter`. Source: INTERFACE.md 4.8.
 */
export function metricOf(id: string, parameter: string, resolver: Resolver): ResolvedMetric {
  const declared = resolver.metric(id);
  if (declared === undefined && id.startsWith('=')) {
    const expression = new Expander(parameter, resolver).expand(id, id.slice(1));
    return { metric: { type: 'formula', expression } };
  }
  if (declared === undefined) return { metric: parseMetric(id, parameter, resolver) };
  if (declared.type === 'core') return { metric: { type: 'core' } };
  const unit = declared.unit === undefined ? {} : { unit: declared.unit };
  if (declared.type === 'attribute') {
    const { attribute: path, aggregation } = declared;
    return { metric: { type: 'attribute', path, aggregation }, ...unit };
  }
  const expression = new Expander(parameter, resolver).expand(id, declared.formula);
  return { metric: { type: 'formula', expression }, ...unit };
}

/** Writes formulas out. */
class Expander {
  readonly #parameter: string;
  readonly #resolver: Resolver;
  /** Formulas that are being written out, the outermost first. */
  readonly #trail: string[] = [];
  #parts = 0;

  constructor(parameter: string, resolver: Resolver) {
    this.#parameter = parameter;
    this.#resolver = resolver;
  }

  expand(id: string, formula: string): MetricExpression {
    if (this.#trail.includes(id)) this.#refuse(id, 'uses itself');
    this.#trail.push(id);
    let tree: FormulaNode;
    try {
      tree = parseFormula(formula);
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      return this.#refuse(id, `is malformed ${error.message}`);
    }
    const expression = this.#expressionOf(tree);
    this.#trail.pop();
    return expression;
  }

  #expressionOf(node: FormulaNode): MetricExpression {
    if (++this.#parts > PARTS_MAX) this.#refuse(this.#trail[0], `has more than ${PARTS_MAX} parts`);
    if (node.type === 'number') return node;
    if (node.type === 'operation') {
      const { operator } = node;
      const left = this.#expressionOf(node.left);
      return { type: 'operation', operator, left, right: this.#expressionOf(node.right) };
    }
    const declared = this.#resolver.metric(node.id);
    if (declared?.type === 'formula') return this.expand(node.id, declared.formula);
    if (declared === undefined) {
      return {
        type: 'metric',
        metric: parseMetric(node.id, `${this.#parameter}: metric`, this.#resolver),
      };
    }
    if (declared.type === 'core') return { type: 'metric', metric: { type: 'core' } };
    const { attribute: path, aggregation } = declared;
    return { type: 'metric', metric: { type: 'attribute', path, aggregation } };
  }

  #refuse(id: string, why: string): never {
    throw new ApiError(400, `${this.#parameter}: the formula of ${shown(id)} ${why}`);
  }
}

/**
 * The metric whose id is `id`: `count`, or `<aggregation>:<path>`. Throws ApiError 400 that names `parameter` and the
 * nearest id. Source: INTERFACE.md 4.8.
 */
function parseMetric(id: string, parameter: string, resolver: Resolver): SimpleMetric {
  if (id === CORE_METRIC) return { type: 'core' };
  const colon = id.indexOf(':');
  const name = colon < 0 ? id : id.slice(0, colon);
  const aggregation = AGGREGATIONS.get(name);
  if (colon >= 0 && aggregation !== undefined) {
    const path = id.slice(colon + 1);
    if (isAttributePath(path)) return { type: 'attribute', path, aggregation };
    throw new ApiError(
      400,
      `${parameter} ${shown(id)} has an unknown attribute; allowed after the colon: custom.<name>, ` +
        'syslog.<name> or message',
    );
  }
  const declared = resolver.metricIds().filter((one) => one !== CORE_METRIC);
  const hint = nearestHint(name, colon < 0 ? [CORE_METRIC, ...declared] : AGGREGATIONS.keys());
  const ids = [CORE_METRIC, ...declared.slice(0, IDS_SHOWN)].join(', ');
  const more = declared.length > IDS_SHOWN ? ` and ${declared.length - IDS_SHOWN} more` : '';
  throw new ApiError(
    400,
    `${parameter} ${shown(id)} is unknown;${hint} allowed: ${ids}${more}, or <aggregation>:<attribute path> with ` +
      [...AGGREGATIONS.keys()].join(', '),
  );
}
