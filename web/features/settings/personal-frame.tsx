import { Link } from '@tanstack/react-router'
import { SettingsFrame } from '../../common/settings-frame.tsx'
import { paths } from '../../address/paths.ts'
import { settingsTexts } from './texts.ts'

export function MeFrame() {
  return (
    <SettingsFrame name={settingsTexts.me.frame} heading={settingsTexts.me.frame}>
      {[
        <Link key="appearance" {...paths.appearance()}>
          {settingsTexts.me.appearance}
        </Link>,
        <Link key="security" {...paths.security()}>
          {settingsTexts.me.security}
        </Link>,
      ]}
    </SettingsFrame>
  )
}
