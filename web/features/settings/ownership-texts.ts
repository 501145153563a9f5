/** Words of owners, mentions, the inbox and ownership rules. */

const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many)
const whole = new Intl.NumberFormat('en-GB')

export const people = {
  members: 'Members',
  ownership: {
    title: 'Ownership',
    lead: 'Who gets new issues. Of the rules that match, the last one decides.',
    rules: 'Rules',
    ruleOf: (number: number) => `Rule ${number}`,
    add: 'Add rule',
    none: 'No rules: new issues belong to nobody.',
    match: 'Looks at',
    matches: { path: 'Path', module: 'Module', url: 'Address', tag: 'Tag' },
    tagKey: 'Tag',
    glob: 'Is like',
    globHint: '* stands for any characters. A path matches in any folder unless it begins with a slash.',
    to: 'Goes to',
    choose: 'Choose…',
    teamWord: 'A team',
    teamField: 'Team',
    left: 'A former member',
    up: (number: number) => `Move rule ${number} up`,
    down: (number: number) => `Move rule ${number} down`,
    first: 'It is the first.',
    last: 'It is the last.',
    remove: (number: number) => `Remove rule ${number}`,
    globMissing: 'Enter what it is like.',
    tagMissing: 'Enter the tag.',
    ownerMissing: 'Choose who gets it.',
    saved: 'Ownership saved',
    failed: 'Could not save.',
    preview: 'Try out',
    previewRun: 'Preview',
    previewFailed: 'Could not make the preview.',
    previewText: 'Shows who would own the issues seen last. Changes nothing.',
    noIssues: 'No issues yet: nothing to try the rules on.',
    owned: (owned: number, of: number) =>
      `${whole.format(owned)} of the ${whole.format(of)} ${plural(of, 'issue', 'issues')} seen last would have an owner.`,
    byRule: (number: number) => `Rule ${number}`,
    nobody: 'Nobody',
    issue: 'Issue',
    owner: 'Owner',
    why: 'Because of',
    now: (name: string) => `now ${name}`,
  },
} as const
