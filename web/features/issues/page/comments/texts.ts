import { counted } from '../../../../ui/format.ts'
/** Texts of comments, mentions and following. */

export const commentsTexts = {
  team: (word: string) => `Team ${word}`,
  teamHint: 'From an ownership rule',
  mentionList: 'Members you can mention',
  mentionFound: (count: number) =>
    `${counted(count, 'member', 'members')}. Use the arrow keys to choose and Enter to insert.`,
  edit: 'Edit comment',
  edited: 'edited',
  editField: 'Edit comment',
  saveEdit: 'Save',
  editFailed: 'Could not save the comment.',
  follow: 'Follow',
  following: 'Following',
  stopFollowing: 'Stop following',
  followText: 'You will be notified of comments and regressions.',
  because: {
    manual: 'You follow this issue.',
    assigned: 'You follow this issue because it was assigned to you.',
    mentioned: 'You follow this issue because you were mentioned.',
    commented: 'You follow this issue because you commented.',
    changed: 'You follow this issue because you changed its status.',
  },
  followFailed: 'Could not update your subscription.',
} as const
