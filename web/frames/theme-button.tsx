import { IconButton } from '../ui/button.tsx'
import { switchTheme, useOtherTheme } from '../app/prefs.ts'
import { appTexts } from '../app/texts.ts'

export function ThemeButton({ className }: { className?: string | undefined }) {
  return (
    <IconButton
      look="ghost"
      icon="sun"
      label={appTexts.theme[useOtherTheme()]}
      className={className}
      onClick={switchTheme}
    />
  )
}
