import { type ApiExample, EXAMPLE_VIEW_ID } from './example.ts';

const NEW_VIEW = { name: 'Failed payments', address: 'q=payment+level%3Aerror&from=now-24h' };
const VIEW = {
  ...{ id: EXAMPLE_VIEW_ID, ...NEW_VIEW, shared: false, owner: 'root', may_change: true },
  changed: '2026-03-01T10:00:00.000Z',
};
const OF_VIEW = { name: 'one', summary: 'One of one’s own', parameters: { id: EXAMPLE_VIEW_ID } };

const NO_SESSION = {
  ...{ name: 'none', summary: 'Without a session', status: 401 },
  reply: {
    error: {
      status: 401,
      message: 'the caller could not be authenticated: there is no session; log in',
    },
  },
};

/** Requests of the routes of `account.ts` by their ids; a test runs each. */
export const ACCOUNT_EXAMPLES = {
  logIn: [
    {
      name: 'user',
      summary: 'By a name and a password',
      body: { name: 'ann', password: 'correct horse battery' },
      reply: {
        result: {
          ...{ type: 'user', name: 'ann', role: 'reader' },
          ...{ security_filter: 'syslog.appname:shop', ends: '2026-03-08T10:00:00.000Z' },
        },
      },
    },
  ],
  showSession: [NO_SESSION],
  logOut: [NO_SESSION],
  setUp: [
    {
      name: 'over',
      summary: 'When there is a user',
      body: { token: 'from-the-file-setup-token', name: 'eve', password: 'correct horse battery' },
      status: 403,
      reply: {
        error: {
          status: 403,
          message:
            'the set-up link is not valid: it is printed when the service starts, and works until there is a user',
        },
      },
    },
  ],
  changePassword: [
    {
      ...NO_SESSION,
      body: { password: 'correct horse battery', new_password: 'staple of another kind' },
    },
  ],
  listViews: [
    {
      ...{ name: 'all', summary: 'All that one sees', isExcerpt: true },
      reply: { result: { views: [{ name: VIEW.name }] } },
    },
  ],
  makeView: [
    {
      name: 'private',
      summary: 'One that its owner sees',
      body: NEW_VIEW,
      reply: { result: VIEW },
    },
  ],
  changeView: [
    { ...OF_VIEW, body: { shared: true }, reply: { result: { ...VIEW, shared: true } } },
  ],
  deleteView: [{ ...OF_VIEW, reply: { result: { id: VIEW.id, name: VIEW.name, deleted: true } } }],
} satisfies Record<string, readonly ApiExample[]>;
