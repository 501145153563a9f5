import type { Role } from '#shared/permissions.ts'

/** Texts about roles and invites that several pages show. */
export const membersTexts = {
  mentionOf: (name: string) => `Issues assigned to ${name}`,
  onlyOwners: 'Only an owner can change or remove an owner.',
  noHigher: 'You cannot give a role above your own.',
  roleNames: { owner: 'Owner', admin: 'Admin', member: 'Member', viewer: 'Viewer' } as const satisfies Record<
    Role,
    string
  >,
  roleNotes: {
    owner: 'everything',
    admin: 'projects, members, webhooks',
    member: 'issues, alerts and releases',
    viewer: 'reads only',
  } as const satisfies Record<Role, string>,
  invite: {
    title: 'Invite to the organisation',
    emails: 'E-mail addresses',
    emailsHint: 'One or several, separated by commas, spaces or lines. Up to 100 at once.',
    none: 'Enter at least one address.',
    tooMany: 'Enter at most 100 addresses at once.',
    role: 'Role',
    submit: (count: number) => (count > 1 ? `Send ${count} invites` : 'Send invite'),
    sent: (count: number) => (count === 1 ? 'Invite sent' : `${count} invites sent`),
    refused: (count: number) => (count === 1 ? '1 address was not invited' : `${count} addresses were not invited`),
    close: 'Close',
  },
} as const
