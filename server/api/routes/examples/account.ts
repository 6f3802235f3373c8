import type { ApiExample } from './example.ts';

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
} satisfies Record<string, readonly ApiExample[]>;
