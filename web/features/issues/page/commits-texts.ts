/** Texts of commits on the issue page. */

const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many)
const whole = new Intl.NumberFormat('en-GB')

export const commitsTexts = {
  title: 'Suspect commits',
  found: (found: number) =>
    `${whole.format(found)} known ${plural(found, 'commit touches', 'commits touch')} frames of this issue`,
  all: (total: number, version: string) => `All ${whole.format(total)} of ${version}`,
  lineChanged: (line: number) => `changed line ${line}`,
  sameFile: 'same file',
  firstIn: (version: string) => `first in ${version}`,
  old: (age: string) => `${age} old`,
  place: (file: string, line: number | null, frame: number) =>
    `${file}${line === null ? '' : `:${line}`}, frame ${frame} of the app`,
  openAt: (sha: string) => `Open at ${sha}`,
  rank: (rank: number) => `Rank ${rank}`,
  unknownAuthor: 'Unknown author',
  assign: 'Assign',
  assigned: 'Assigned',
  noMember: 'No member here',
  foot: 'Ranked by line, release, frame and age.',
  lastKnown: 'The newest known commit is from',
  noneTitle: 'No suspect commit.',
  none: 'No known commit touches a file of this stack.',
  noneOfRelease: (version: string) =>
    `No known commit touches a file of this stack. The commits of ${version} are not known: they come with its tag, or from your build.`,
  noFrameTitle: 'Nothing to compare.',
  noFrame: 'This event has no frame of your app that names a file.',
  noCommitsTitle: 'No commits are known.',
  noCommits: 'They arrive with the next push, or with the commits of a release.',
  noHostTitle: 'No code host.',
  noHost: 'Connect it to see which commit did it.',
  connect: 'Connect',
  mentions: 'In the code',
  states: {
    mentioned: 'mentions it',
    open: 'open',
    merged: 'merged',
    closed: 'closed',
    fixes: 'fixes it',
  },
  source: (path: string) => `Open ${path} in the repository`,
  sourceNear: (path: string) => `Open ${path} on the default branch; the commit of this release is not known`,
} as const
