import { shown } from '../../language/shown.ts';
import { ApiError } from '../reply.ts';
import type { ApiOperation } from './operation.ts';

/** A route that a request is for. */
export interface Match<R> {
  route: R;
  /** The parameter in the path; empty without one. */
  id: string;
}

/** A path with a parameter in it. */
interface Pattern<R> {
  expression: RegExp;
  route: R;
}

/** Finds routes by path and method. */
export class RouteTable<R extends ApiOperation> {
  readonly #exact = new Map<string, R[]>();
  readonly #patterns: Pattern<R>[] = [];

  constructor(routes: readonly R[]) {
    for (const route of routes) {
      const { path } = route;
      if (path.includes('{')) this.#patterns.push({ expression: expressionOf(route), route });
      else this.#exact.set(path, [...(this.#exact.get(path) ?? []), route]);
    }
  }

  /**
   * The route of a request; `undefined` when none has that path. Throws ApiError 405 when others have it. `besides` are
   * methods that are answered everywhere.
   */
  find(path: string, method: string, besides: readonly string[] = []): Match<R> | undefined {
    const found = this.#matches(path);
    const match = found.find(({ route }) => methodsOf(route).includes(method));
    if (match !== undefined || found.length === 0) return match;
    const methods = found.flatMap(({ route }) => methodsOf(route));
    throw methodNotAllowed(method, [...new Set([...methods, ...besides])].join(', '));
  }

  #matches(path: string): Match<R>[] {
    const exact = this.#exact.get(path) ?? [];
    const patterns = this.#patterns.flatMap(({ expression, route }) => {
      const id = expression.exec(path)?.[1];
      return id === undefined ? [] : [{ route, id }];
    });
    return [...exact.map((route) => ({ route, id: '' })), ...patterns];
  }
}

/** The methods of a route: HEAD too where an answer needs no key. */
function methodsOf({ method, access }: ApiOperation): string[] {
  const hasHead = method === 'get' && (access === 'anybody' || access === 'overview');
  return [method.toUpperCase(), ...(hasHead ? ['HEAD'] : [])];
}

/** Ids of the administration are all that stands behind the resource. */
function expressionOf({ path, access }: ApiOperation): RegExp {
  const [before, after] = path.split(/\{\w+\}/);
  return new RegExp(`^${before}${access === 'admin' ? '(.+)' : '([^/]+)'}${after}$`, 's');
}

function methodNotAllowed(method: string, allow: string): ApiError {
  const message = `the method ${shown(method)} is not allowed; allowed: ${allow}`;
  return new ApiError(405, message, { allow });
}
