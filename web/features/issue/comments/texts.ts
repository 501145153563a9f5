/** Texts of comments, mentions and following. */

const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many)
const whole = new Intl.NumberFormat('en-GB')

export const commentsTexts = {
  team: (word: string) => `Team ${word}`,
  teamHint: 'Named by an ownership rule',
  mentionList: 'Members to mention',
  mentionFound: (count: number) =>
    `${whole.format(count)} ${plural(count, 'member', 'members')}. Arrow keys choose, Enter takes.`,
  mentionOf: (name: string) => `Issues of ${name}`,
  edit: 'Edit comment',
  edited: 'edited',
  editField: 'Comment, edited',
  saveEdit: 'Save',
  editFailed: 'Could not save the comment.',
  follow: 'Follow',
  following: 'Following',
  stopFollowing: 'Stop following',
  followText: 'Comments, and that it comes back, reach your inbox.',
  because: {
    manual: 'You follow this issue.',
    assigned: 'You follow this issue because it was assigned to you.',
    mentioned: 'You follow this issue because you were mentioned.',
    commented: 'You follow this issue because you commented.',
    changed: 'You follow this issue because you changed its status.',
  },
  followFailed: 'Could not change whether you follow it.',
} as const
