import { Link } from '@tanstack/react-router'
import { paths } from '../address/paths.ts'
import { ThemeButton } from '../frames/theme-button.tsx'
import { Mark } from '../ui/mark.tsx'
import { IconButton } from '../ui/button.tsx'
import { appTexts } from '../app/texts.ts'
import { shellTexts } from './texts.ts'
import { AccountMenu } from '../frames/account-menu.tsx'
import { LiveMark } from './live-mark.tsx'
import { Bell } from '../features/issues/inbox/bell.tsx'
import { ProjectPicker } from './project-picker.tsx'
import { RangePicker } from './range-picker.tsx'
import { useScope } from '../app/use-scope.ts'
import { classNames } from '../ui/class-names.ts'
import shellStyles from './shell.module.css'
import styles from './top-bar.module.css'

type TopBarProps = {
  onJump: () => void
  onKeys: () => void
  /** Visible data is being refetched. */
  busy: boolean
}

export function TopBar({ onJump, onKeys, busy }: TopBarProps) {
  const { offers } = useScope()
  return (
    <header className={styles.top}>
      <Link className={shellStyles.phoneOnly} {...paths.issues()} aria-label={appTexts.homeLink}>
        <Mark />
      </Link>
      {offers.project === 'none' ? null : <ProjectPicker />}
      {offers.range ? <RangePicker /> : null}
      <div className={styles.right}>
        <span className={classNames(styles.live, shellStyles.wideOnly)}>
          <LiveMark />
        </span>
        <IconButton look="ghost" icon="search" label={shellTexts.palette} onClick={onJump} />
        <Bell />
        <ThemeButton className={shellStyles.wideOnly} />
        <AccountMenu onKeys={onKeys} className={shellStyles.wideOnly} />
      </div>
      {busy ? <span className={styles.busyline} aria-hidden="true" /> : null}
    </header>
  )
}
