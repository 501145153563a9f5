/** Texts of an empty list of issues, which are loaded when it is. */
export const emptyTexts = {
  emptyGood: 'No open issues',
  emptyGoodText: (where: string, range: string) => `No errors in ${where} in ${range}.`,
  emptyView: {
    open: 'No open issues',
    unresolved: 'No unresolved issues',
    regressed: 'No regressed issues',
    escalated: 'No escalated issues',
    ignored: 'No ignored issues',
    resolved: 'No resolved issues',
  },
  emptyViewText: (range: string) => `No issues seen in ${range}.`,
  allProjectsIn: 'any project',
  showLonger: { '1h': 'Show last 24 hours', '24h': 'Show last 7 days', '7d': 'Show last 30 days' },
  emptyFiltered: 'No issues match these filters',
  emptyFilteredText: 'Active filters:',
  emptySetup: 'No events yet',
  emptySetupText: 'Connect an app and trigger an error. It appears here within seconds.',
  setUp: 'Set up a project',
  connect: (project: string) => `Connect ${project}`,
} as const
