import { Link } from '@tanstack/react-router'
import { SettingsFrame } from '../components/settings-frame.tsx'
import { paths } from '../paths.ts'
import { settings } from '../words/settings.ts'

export function MeFrame() {
  return (
    <SettingsFrame name={settings.me.frame} heading={settings.me.frame}>
      {[
        <Link key="appearance" {...paths.appearance()}>
          {settings.me.appearance}
        </Link>,
        <Link key="security" {...paths.security()}>
          {settings.me.security}
        </Link>,
      ]}
    </SettingsFrame>
  )
}
