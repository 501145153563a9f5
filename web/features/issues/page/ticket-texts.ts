/** Texts of the ticket of an issue. */
export const ticketTexts = {
  title: 'Ticket',
  create: 'Create ticket',
  createAgain: 'Create another',
  none: 'No ticket yet.',
  noTracker: 'No tracker.',
  noTrackerText:
    'Connect Linear, Jira or the issues of the repository to create tickets with stack trace, counts and a link.',
  connect: 'Connect a tracker',
  broken: 'The tracker refuses its credentials: an admin must connect it again.',
  gone: (key: string) => `${key} was deleted in the tracker.`,
  names: { tracker_a: 'Linear', tracker_b: 'Jira', codehost: 'Repository' },
  states: { open: 'Open', closed: 'Closed', reopening: 'Reopening', gone: 'Deleted' },
} as const
