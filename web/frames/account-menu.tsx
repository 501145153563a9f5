import { useQuery } from '@tanstack/react-query'
import { useNavigate, type LinkProps } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { errorSentence } from '../api/change.ts'
import { meQuery } from '../api/queries.ts'
import { endSession } from '../api/session.ts'
import { GUIDE_PATH } from '../address/guide.ts'
import { paths } from '../address/paths.ts'
import { classNames } from '../ui/class-names.ts'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { Avatar, toInitials } from '../ui/avatar.tsx'
import { addToast } from '../ui/toasts.tsx'
import { appTexts } from '../app/texts.ts'
import styles from './account-menu.module.css'

const PAGES = [
  ['profile', 'user'],
  ['security', 'lock'],
  ['sessions', 'phone'],
  ['notifications', 'bell'],
  ['appearance', 'sun'],
  ['apiKeys', 'key'],
] as const

/** Entries of the account menu, also shown in More on phones. */
export function useAccountEntries(more: readonly MenuEntry[] = []): MenuEntry[] {
  const me = useQuery(meQuery)
  const navigate = useNavigate()
  const logOut = async () => {
    try {
      await call('POST /api/auth/logout')
      endSession({ left: true, reason: null })
    } catch (error) {
      addToast({ text: `${appTexts.logOutFailed} ${errorSentence(error)}`, tone: 'bad' })
    }
  }
  return [
    { kind: 'heading', label: me.data === undefined ? '' : `${me.data.user.name}, ${me.data.user.role}` },
    ...PAGES.map(([key, icon]): MenuEntry => {
      const link: Pick<LinkProps, 'to'> = paths[key]()
      return { label: appTexts[key], icon, onSelect: () => void navigate(link) }
    }),
    ...more,
    { label: appTexts.documentation, icon: 'info', onSelect: () => location.assign(GUIDE_PATH) },
    { kind: 'separator' },
    { label: appTexts.logOut, icon: 'left', onSelect: () => void logOut() },
  ]
}

export function AccountMenu({ onKeys, className }: { onKeys?: () => void; className?: string | undefined }) {
  const me = useQuery(meQuery)
  const entries = useAccountEntries(
    onKeys === undefined ? [] : [{ label: appTexts.keys, icon: 'info', letter: '?', onSelect: onKeys }],
  )
  if (me.data === undefined) return null
  const { user } = me.data
  return (
    <Menu
      label={appTexts.account(user.name)}
      align="end"
      entries={entries}
      trigger={
        // The accessible name begins with the visible text, for voice control.
        <button
          className={classNames(styles.account, className)}
          type="button"
          aria-label={`${toInitials(user.name)}, ${appTexts.account(user.name)}`}
          title={user.name}
        >
          <Avatar user={user} quiet />
        </button>
      }
    />
  )
}
