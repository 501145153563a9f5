import { formatCount } from '../../../ui/format.ts'

/** Texts of the bell itself: those of its panel are loaded when it opens. */
export const bellTexts = {
  notifications: 'Notifications',
  bell: (firing: number, unread: number) =>
    [
      'Notifications',
      ...(firing === 0 ? [] : [firing === 1 ? '1 alert firing' : `${formatCount(firing)} alerts firing`]),
      ...(unread === 0 ? [] : [`${formatCount(unread)} unread for you`]),
    ].join(', '),
  openBell: 'Open notifications',
} as const
