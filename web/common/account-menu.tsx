import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { reasonOf } from '../api/change.ts'
import { meQuery } from '../api/queries.ts'
import { endSession } from '../api/session.ts'
import { paths } from '../address/paths.ts'
import { classNames } from '../ui/class-names.ts'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { Avatar, initialsOf } from '../ui/tiles.tsx'
import { addToast } from '../ui/toasts.tsx'
import { shared } from './texts.ts'
import styles from './account-menu.module.css'

/** What concerns the person: shared by the avatar in the bar and More on phones. */
export function useAccountEntries(more: readonly MenuEntry[] = []): MenuEntry[] {
  const me = useQuery(meQuery)
  const navigate = useNavigate()
  const logOut = async () => {
    try {
      await call('POST /api/auth/logout')
      endSession(true)
    } catch (error) {
      addToast({ text: `${shared.logOutFailed} ${reasonOf(error)}`, tone: 'bad' })
    }
  }
  return [
    { kind: 'heading', label: me.data === undefined ? '' : `${me.data.user.name}, ${me.data.user.role}` },
    { label: shared.appearance, icon: 'sun', onSelect: () => void navigate(paths.appearance()) },
    { label: shared.changePassword, icon: 'lock', onSelect: () => void navigate(paths.security()) },
    ...more,
    { kind: 'separator' },
    { label: shared.logOut, icon: 'left', onSelect: () => void logOut() },
  ]
}

export function AccountMenu({ onKeys, className }: { onKeys?: () => void; className?: string | undefined }) {
  const me = useQuery(meQuery)
  const entries = useAccountEntries(
    onKeys === undefined ? [] : [{ label: shared.keys, icon: 'info', letter: '?', onSelect: onKeys }],
  )
  if (me.data === undefined) return null
  const { user } = me.data
  return (
    <Menu
      label={shared.account(user.name)}
      align="end"
      entries={entries}
      trigger={
        // The name begins with what is printed, for people who speak to their machine.
        <button
          className={classNames(styles.account, className)}
          type="button"
          aria-label={`${initialsOf(user.name)}, ${shared.account(user.name)}`}
          title={user.name}
        >
          <Avatar person={user} quiet />
        </button>
      }
    />
  )
}
