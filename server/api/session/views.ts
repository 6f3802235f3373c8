import { shown } from '../../language/shown.ts';
import type { View } from '../../registry/account/views.ts';
import type { Asker } from '../../registry/journal.ts';
import { ApiError, type ApiRequest, type Reply, resultReply } from '../reply.ts';
import { requireKnownQuery } from '../route.ts';
import { type AccountOptions, bodyOf, callerOf, refuse } from './account.ts';
import { checkNewView, checkViewChange } from './account-schema.ts';
import type { Caller } from './callers.ts';

/** A view as the API shows it. */
interface ShownView {
  id: string;
  name: string;
  address: string;
  shared: boolean;
  owner: string | null;
  may_change: boolean;
  changed: string;
}

/** `GET /account/views`: the caller's own views and those that are shared. */
export async function listViews(options: AccountOptions, request: ApiRequest): Promise<Reply> {
  const caller = callerOf(options, request);
  requireKnownQuery(request, []);
  const seen = options.views.list().filter((view) => isSeen(view, caller));
  const views = seen.map((view) => shownView(options, view, caller));
  return replyOf({ views });
}

/** `POST /account/views`. Throws ApiError 403 to the session of a read key. */
export async function makeView(options: AccountOptions, request: ApiRequest): Promise<Reply> {
  const caller = callerOf(options, request);
  const { name, address, shared = false } = checkNewView(bodyOf(request));
  if (caller.type === 'key') {
    const message =
      'forbidden: views are kept for users; the session of a read key sees those that are shared';
    throw new ApiError(403, message);
  }
  const wanted = { ownerId: caller.readKey.id, name, address, isShared: shared };
  const view = await options.views.create(wanted, askerOf(caller, request)).catch(refuse);
  return replyOf(shownView(options, view, caller));
}

/** `PATCH /account/views/<id>`. Throws ApiError 403 and 404. */
export async function changeView(
  options: AccountOptions,
  request: ApiRequest,
  id: string,
): Promise<Reply> {
  const caller = callerOf(options, request);
  const { name, address, shared } = checkViewChange(bodyOf(request));
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(address === undefined ? {} : { address }),
    ...(shared === undefined ? {} : { isShared: shared }),
  };
  requireOwn(options, caller, id);
  const view = await options.views.change(id, change, askerOf(caller, request)).catch(refuse);
  return replyOf(shownView(options, view, caller));
}

/** `DELETE /account/views/<id>`. Throws ApiError 403 and 404. */
export async function deleteView(
  options: AccountOptions,
  request: ApiRequest,
  id: string,
): Promise<Reply> {
  const caller = callerOf(options, request);
  requireKnownQuery(request, []);
  const { name } = requireOwn(options, caller, id);
  await options.views.delete(id, askerOf(caller, request)).catch(refuse);
  return replyOf({ id, name, deleted: true });
}

/** The view that a caller changes. What others keep for themselves is as if it were not there. */
function requireOwn({ views }: AccountOptions, caller: Caller, id: string): View {
  const view = views.get(id);
  if (view === undefined || !isSeen(view, caller)) {
    throw new ApiError(404, `there is no view with the id ${shown(id)}`);
  }
  if (mayChange(view, caller)) return view;
  throw new ApiError(
    403,
    'forbidden: the view is of another user; allowed: its owner, or an admin',
  );
}

function isOwn({ ownerId }: View, { type, readKey }: Caller): boolean {
  return type === 'user' && ownerId === readKey.id;
}

function isSeen(view: View, caller: Caller): boolean {
  return view.isShared || isOwn(view, caller);
}

function mayChange(view: View, caller: Caller): boolean {
  return isOwn(view, caller) || caller.role === 'admin';
}

function shownView({ users }: AccountOptions, view: View, caller: Caller): ShownView {
  const { id, name, address, isShared, ownerId, changedMs } = view;
  return {
    ...{ id, name, address, shared: isShared },
    owner: users.get(ownerId)?.name ?? null,
    may_change: mayChange(view, caller),
    changed: new Date(changedMs).toISOString(),
  };
}

function askerOf({ name }: Caller, { peer }: ApiRequest): Asker {
  return { who: name, peer };
}

function replyOf(result: object): Reply {
  return { ...resultReply(JSON.stringify(result)), headers: { 'cache-control': 'no-store' } };
}
