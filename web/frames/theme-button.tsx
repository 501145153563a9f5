import { IconButton } from '../ui/button.tsx'
import { shownTheme, switchTheme, usePrefs } from '../app/prefs.ts'
import { appTexts } from '../app/texts.ts'

export function ThemeButton({ className }: { className?: string | undefined }) {
  usePrefs()
  const next = shownTheme() === 'dark' ? 'light' : 'dark'
  return <IconButton look="ghost" icon="sun" label={appTexts.theme[next]} className={className} onClick={switchTheme} />
}
