import type { MetricExpression } from '../model/query.ts';

/** A number, or a string that is one, as JSON text. */
const NUMERIC = /^("?)([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\1$/;

/**
 * A formula over one event: each metric of an attribute is the event's number there, the event count 1. `valueText`
 * gives the JSON text at a path. `null` where a part is missing or no number, where the divisor is 0, and beyond all
 * doubles. Source: INTERFACE.md 4.6.
 */
export function evaluateOnEvent(
  expression: MetricExpression,
  valueText: (path: string) => string,
): number | null {
  if (expression.type === 'number') return expression.value;
  if (expression.type === 'metric') {
    const { metric } = expression;
    if (metric.type === 'core') return 1;
    const number = NUMERIC.exec(valueText(metric.path))?.[2];
    return number === undefined ? null : finite(Number(number));
  }
  const left = evaluateOnEvent(expression.left, valueText);
  const right = evaluateOnEvent(expression.right, valueText);
  if (left === null || right === null) return null;
  const { operator } = expression;
  if (operator === '+') return finite(left + right);
  if (operator === '-') return finite(left - right);
  return finite(operator === '*' ? left * right : left / right);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
