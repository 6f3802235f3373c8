import {
  collectionReply,
  deletedReply,
  endedReply,
  resultOf,
  sessionReply,
  shownView,
} from '../openapi/reply-schema.ts';
import { text } from '../schema.ts';
import { changePassword, logIn, logOut, setUp, showSession } from '../session/account.ts';
import { ACCOUNT_SCHEMAS } from '../session/account-schema.ts';
import { changeView, deleteView, listViews, makeView } from '../session/views.ts';
import { ACCOUNT_EXAMPLES } from './examples/account.ts';
import { type ApiParameter, BODY_REFUSALS, json } from './operation.ts';
import type { AccountRoute } from './route.ts';

const SESSION = { path: '/account/session', tag: 'Sessions' } as const;
const VIEWS = { path: '/account/views', tag: 'Views', access: 'session' } as const;
const VIEW_ID: ApiParameter = { name: 'id', in: 'path', about: 'The id.', schema: text() };
const VIEW = { ...VIEWS, path: '/account/views/{id}', parameters: [VIEW_ID] } as const;
const LOGIN_REFUSALS: readonly number[] = [...BODY_REFUSALS, 429, 503];

/** Logging in and out, and the views that users keep. */
export const ACCOUNT_ROUTES: readonly AccountRoute[] = [
  {
    ...{ ...SESSION, id: 'logIn', method: 'post', access: 'login' },
    summary: 'Begins a session, by a name and a password or by a read key',
    about: 'The session is in a cookie, for requests of the same origin.',
    bodies: json(ACCOUNT_SCHEMAS.login),
    replies: json(sessionReply),
    refusals: [...LOGIN_REFUSALS, 401],
    answer: logIn,
    examples: ACCOUNT_EXAMPLES.logIn,
  },
  {
    ...{ ...SESSION, id: 'showSession', method: 'get', access: 'session' },
    summary: 'Tells who has logged in',
    replies: json(sessionReply),
    refusals: [],
    answer: showSession,
    examples: ACCOUNT_EXAMPLES.showSession,
  },
  {
    ...{ ...SESSION, id: 'logOut', method: 'delete', access: 'session' },
    summary: 'Ends the session',
    replies: json(endedReply),
    refusals: [],
    answer: logOut,
    examples: ACCOUNT_EXAMPLES.logOut,
  },
  {
    ...{ id: 'setUp', method: 'post', path: '/account/setup', tag: 'Sessions', access: 'login' },
    summary: 'Makes the first user, an admin, who is logged in then',
    about:
      '`token` is the text of the file `setup-token` in the data folder. It is valid until there is a user.',
    bodies: json(ACCOUNT_SCHEMAS.setup),
    replies: json(sessionReply),
    refusals: LOGIN_REFUSALS,
    answer: setUp,
    examples: ACCOUNT_EXAMPLES.setUp,
  },
  {
    ...{ id: 'changePassword', method: 'post', path: '/account/password', tag: 'Sessions' },
    access: 'session',
    summary: 'Changes the password of the user who has logged in; other sessions of the user end',
    bodies: json(ACCOUNT_SCHEMAS.ownPassword),
    replies: json(sessionReply),
    refusals: LOGIN_REFUSALS,
    answer: changePassword,
    examples: ACCOUNT_EXAMPLES.changePassword,
  },
  {
    ...{ ...VIEWS, id: 'listViews', method: 'get' },
    summary: 'Lists own views and those that are shared',
    replies: json(collectionReply('views', shownView)),
    refusals: [400],
    answer: listViews,
    examples: ACCOUNT_EXAMPLES.listViews,
  },
  {
    ...{ ...VIEWS, id: 'makeView', method: 'post' },
    summary: 'Makes a view',
    about: 'The session of a read key sees views that are shared, and keeps none.',
    bodies: json(ACCOUNT_SCHEMAS.newView),
    replies: json(resultOf(shownView)),
    refusals: [...BODY_REFUSALS, 503],
    answer: makeView,
    examples: ACCOUNT_EXAMPLES.makeView,
  },
  {
    ...{ ...VIEW, id: 'changeView', method: 'patch' },
    summary: 'Changes what the body has of a view: by its owner, or an admin',
    bodies: json(ACCOUNT_SCHEMAS.viewChange),
    replies: json(resultOf(shownView)),
    refusals: [...BODY_REFUSALS, 404, 503],
    answer: changeView,
    examples: ACCOUNT_EXAMPLES.changeView,
  },
  {
    ...{ ...VIEW, id: 'deleteView', method: 'delete' },
    summary: 'Deletes a view: by its owner, or an admin',
    replies: json(deletedReply),
    refusals: [400, 404, 503],
    answer: deleteView,
    examples: ACCOUNT_EXAMPLES.deleteView,
  },
];
