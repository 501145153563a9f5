/** Texts of the search help: examples of the query language. */

export const searchHelpTexts = {
  intro: 'Search words match the beginning of words in title, message, function, file and tags. All terms must match.',
  examples: [
    ['checkout "on pay"', 'words; an exact phrase in quotes'],
    ['is:unresolved level:[error, fatal]', 'status and level; any value of a list'],
    ['release:1.2.* environment:production', 'values of events; * matches anything'],
    ['device.model:"SM-A125F" os.name:Android', 'device and operating system'],
    ['user.id:7 users:>=5 events:>100', 'an affected user; numbers of users and events'],
    ['assigned:me first_seen:-24h', 'assignee; first seen in the last 24 hours'],
    ['-tenant:acme has:feature', '- excludes; any other key is a tag'],
    ['(level:fatal OR severity:critical)', 'alternatives'],
  ],
} as const
