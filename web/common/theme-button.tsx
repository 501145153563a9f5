import { IconButton } from '../ui/button.tsx'
import { shownTheme, switchTheme, usePrefs } from './prefs.ts'
import { commonTexts } from './texts.ts'

export function ThemeButton({ className }: { className?: string | undefined }) {
  usePrefs()
  const next = shownTheme() === 'dark' ? 'light' : 'dark'
  return (
    <IconButton look="ghost" icon="sun" label={commonTexts.theme[next]} className={className} onClick={switchTheme} />
  )
}
