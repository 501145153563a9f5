import { Link } from '@tanstack/react-router'
import { SettingsFrame } from './frame.tsx'
import { paths } from '../../address/paths.ts'
import { settings } from './texts.ts'

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
