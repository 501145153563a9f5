/** Texts of ownership rules. */

const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many)
const whole = new Intl.NumberFormat('en-GB')

export const ownershipTexts = {
  members: 'Members',
  ownership: {
    title: 'Ownership',
    lead: 'Assign new issues automatically. If several rules match, the last one applies.',
    rules: 'Rules',
    ruleOf: (number: number) => `Rule ${number}`,
    add: 'Add rule',
    none: 'No rules. New issues are not assigned.',
    match: 'Match',
    matches: { path: 'Path', module: 'Module', url: 'Address', tag: 'Tag' },
    tagKey: 'Tag',
    glob: 'Pattern',
    globHint: '* matches any characters. A path matches in any folder unless it starts with a slash.',
    to: 'Assign to',
    choose: 'Choose…',
    teamWord: 'A team',
    teamField: 'Team',
    left: 'A former member',
    up: (number: number) => `Move rule ${number} up`,
    down: (number: number) => `Move rule ${number} down`,
    first: 'This is the first rule.',
    last: 'This is the last rule.',
    remove: (number: number) => `Remove rule ${number}`,
    globMissing: 'Enter a pattern.',
    tagMissing: 'Enter a tag.',
    ownerMissing: 'Choose an assignee.',
    saved: 'Ownership rules saved',
    failed: 'Could not save the ownership rules.',
    preview: 'Preview',
    previewRun: 'Preview',
    previewFailed: 'The preview failed.',
    previewText: 'Shows who the most recent issues would be assigned to. Changes nothing.',
    noIssues: 'No issues to preview the rules on.',
    owned: (owned: number, of: number) =>
      `${whole.format(owned)} of the ${whole.format(of)} most recent ${plural(of, 'issue', 'issues')} would be assigned.`,
    byRule: (number: number) => `Rule ${number}`,
    nobody: 'Unassigned',
    issue: 'Issue',
    owner: 'Assignee',
    why: 'Matched',
    now: (name: string) => `now ${name}`,
  },
} as const
