import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { LIST_LIMIT_MAX } from '../../../engine/base/limits.ts';
import { ApiError } from '../reply.ts';
import { flag, object, text } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

/** Events of a list view that may be left out before a page. */
const SKIP_MAX = 100_000;

const point = () =>
  Type.Union([Type.String(), Type.Number()], {
    description: 'an ISO 8601 string, epoch milliseconds as a number, or date math such as now-15m',
  });
const whole = (minimum: number, maximum: number) =>
  Type.Integer({
    minimum,
    maximum,
    description: `a whole number from ${minimum} to ${maximum}`,
  });
const skip = () => Type.Optional(whole(0, SKIP_MAX));

/** Schema of the body of an execution. */
export const executeBody = object({
  time: Type.Optional(
    object({
      from: Type.Optional(point()),
      to: Type.Optional(point()),
      timezone: Type.Optional(text('the name of a time zone')),
      offset: Type.Optional(whole(-50_400_000, 50_400_000)),
    }),
  ),
  limit: Type.Optional(whole(1, LIST_LIMIT_MAX)),
  'field.from': skip(),
  field: Type.Optional(object({ from: skip() })),
  format: Type.Optional(flag()),
  names: Type.Optional(flag()),
});
const validator = Compile(executeBody);

/** Body of the execution of a saved analysis. Source: INTERFACE.md 4.7. */
export type ExecuteBody = Static<typeof executeBody>;

/** Returns the body if it executes an analysis. Throws ApiError 400 naming the first fault. */
export function checkExecuteBody(body: unknown): ExecuteBody {
  if (!validator.Check(body)) return refuse(validator, body);
  if (body.field?.from === undefined || body['field.from'] === undefined) return body;
  throw new ApiError(400, 'field.from is there twice; allowed: once');
}
