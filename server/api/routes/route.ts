import type { Asker } from '../../registry/journal.ts';
import type { ApiRequest, Reply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import type { AccountOptions } from '../session/account.ts';
import type { ApiOperation } from './operation.ts';

/** The state of the service, as it answers for it. */
export interface Operation {
  /** The process answers. */
  health(): Reply;
  /** The service can do its work now, or why not. */
  ready(): Reply;
  metrics(): Reply;
  /** The description of the interface. */
  openapi(): Reply;
}

/** A request to a resource of the administration. */
export interface AdminContext {
  request: ApiRequest;
  /** Asks for changes, as the audit log names it. */
  asker: Asker;
  /** The id or name in the path; empty of all of a resource. Slashes belong to it. */
  id: string;
}

/** One thing that can be done to a resource. Throws or rejects with ApiError, or EngineError of the registry. */
export type AdminAction = (context: AdminContext) => Promise<Reply>;

/** The actions of a resource, as far as it has them, by the name that the route table has. */
export type AdminResource = Partial<Record<AdminActionName, AdminAction>>;

/** The names of the actions. */
export type AdminActionName = 'list' | 'make' | 'show' | 'change' | 'delete' | 'test';

/** An endpoint of the input API, which `server/listen/input.ts` answers while the body comes. */
export interface InputRoute extends ApiOperation {
  access: 'writer';
}

/** An endpoint of the output API. */
export interface ReadRoute extends ApiOperation {
  access: 'reader';
  /** Throws or rejects with ApiError to refuse. */
  answer: (context: ReadContext) => Reply | Promise<Reply>;
}

/** An endpoint of the administration. */
export interface AdminRoute extends ApiOperation {
  access: 'admin';
  resource: string;
  action: AdminActionName;
}

/** An endpoint that tells how the service does. */
export interface OperationRoute extends ApiOperation {
  access: 'anybody' | 'overview';
  answer: (operation: Operation) => Reply;
}

/** An endpoint of who logs in, and of what they keep. `id` is the parameter in the path. */
export interface AccountRoute extends ApiOperation {
  access: 'login' | 'session';
  /** Throws or rejects with ApiError to refuse. */
  answer: (options: AccountOptions, request: ApiRequest, id: string) => Promise<Reply>;
}

/** A route: the operation as it is described, and what answers it. */
export type Route = InputRoute | ReadRoute | AdminRoute | AccountRoute | OperationRoute;
