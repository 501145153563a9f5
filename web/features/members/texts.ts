import type { Role } from '#shared/permissions.ts'

/** Texts of the members page. */
export const membersTexts = {
  title: 'Members',
  lead: 'Who belongs to the organisation and what they may do.',
  invite: 'Invite',
  what: 'Members',
  count: (shown: string, total: string) => (shown === total ? `${total} members` : `${shown} of ${total} members`),
  one: '1 member',
  more: 'Show more',

  columns: {
    name: 'Name',
    role: 'Role',
    twoFactor: 'Two-step log-in',
    seen: 'Last seen',
    joined: 'Joined',
    actions: 'Actions',
  },
  you: 'You',
  disabled: 'Disabled',
  on: 'On',
  off: 'Off',
  never: 'never',

  roleOf: (name: string) => `Role of ${name}`,
  roleChanged: (name: string, role: string) => `${name} is now ${role}`,
  roleNotChanged: 'Could not change the role.',

  actionsFor: (name: string) => `Actions for ${name}`,
  disable: 'Disable',
  enable: 'Enable',
  disabledNow: (name: string) => `${name} can no longer log in here`,
  enabledNow: (name: string) => `${name} can log in again`,
  notChanged: 'Could not change the member.',
  remove: 'Remove from the organisation',
  leave: 'Leave the organisation',

  removal: {
    title: (name: string) => `Remove ${name}?`,
    text: 'Their sessions and API keys for this organisation end at once. What they wrote stays.',
    ownTitle: 'Leave this organisation?',
    ownText: 'Your sessions and API keys here end at once. To come back you need an invite.',
    submit: 'Remove',
    ownSubmit: 'Leave',
    done: (name: string) => `${name} was removed`,
    ownDone: 'You left the organisation',
    failed: 'Could not remove the member.',
  },

  invites: {
    title: 'Open invites',
    what: 'Invites',
    columns: { email: 'E-mail', role: 'Role', by: 'Invited by', expires: 'Expires', actions: 'Actions' },
    expired: 'Expired',
    formerMember: 'a former member',
    resend: 'Send again',
    resent: (email: string) => `Sent again to ${email}. The link sent before no longer works.`,
    notResent: 'Could not send the invite.',
    revoke: 'Revoke',
    revoked: (email: string) => `The invite of ${email} is revoked`,
    notRevoked: 'Could not revoke the invite.',
  },

  roles: {
    title: 'What each role may do',
    table: 'Roles and actions',
    columns: { action: 'Action' },
    yes: 'yes',
    no: 'no',
    rows: [
      { name: 'Read issues, metrics, releases and the intake page', min: 'viewer' },
      { name: 'Change issues, comment, add releases', min: 'member' },
      { name: 'Delete issues and the comments of others', min: 'admin' },
      { name: 'Create projects, change their settings, rotate DSNs', min: 'admin' },
      { name: 'Invite, change roles, remove members', min: 'admin' },
      { name: 'Webhooks and audit log', min: 'admin' },
      { name: 'Change owners, single sign-on, delete projects', min: 'owner' },
    ] as const satisfies readonly { name: string; min: Role }[],
  },
} as const
