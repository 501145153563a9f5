import { Link } from '@tanstack/react-router'
import { paths } from '../paths.ts'
import { switchTheme, shownTheme, usePrefs } from '../prefs.ts'
import { IconButton } from '../ui/button.tsx'
import { Mark } from '../ui/icon.tsx'
import { shell } from '../words/shell.ts'
import { AccountMenu } from './account-menu.tsx'
import { LiveMark } from './live-mark.tsx'
import { Bell } from './people/bell.tsx'
import { ProjectPicker } from './project-picker.tsx'
import { RangePicker } from './range-picker.tsx'
import { useScope } from './use-scope.ts'

type TopBarProps = {
  onJump: () => void
  onKeys: () => void
  /** Something shown is being read again. */
  busy: boolean
}

export function TopBar({ onJump, onKeys, busy }: TopBarProps) {
  const { offers } = useScope()
  return (
    <header className="top">
      <Link className="top-mark" {...paths.issues()} aria-label={shell.homeLink}>
        <Mark />
      </Link>
      {offers.project === 'none' ? null : <ProjectPicker />}
      {offers.range ? <RangePicker /> : null}
      <div className="top-right">
        <LiveMark />
        <IconButton look="ghost" icon="search" label={shell.palette} className="top-search" onClick={onJump} />
        <Bell />
        <ThemeButton />
        <AccountMenu onKeys={onKeys} />
      </div>
      {busy ? <span className="busyline" aria-hidden="true" /> : null}
    </header>
  )
}

export function ThemeButton() {
  usePrefs()
  const next = shownTheme() === 'dark' ? 'light' : 'dark'
  return <IconButton look="ghost" icon="sun" label={shell.theme[next]} className="theme" onClick={switchTheme} />
}
