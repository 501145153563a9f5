import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meQuery } from '../../../api/queries.ts'
import { SettingsFrame } from '../../../frames/settings-frame.tsx'
import { paths } from '../../../address/paths.ts'
import { notificationsTexts } from './notifications-texts.ts'
import { personalTexts as texts } from './texts.ts'

/** The frame of the pages about the user who is logged in. */
export function MeFrame() {
  const me = useQuery(meQuery)
  return (
    <SettingsFrame name={texts.frame} heading={me.data?.user.name ?? texts.frame}>
      {[
        <Link key="profile" {...paths.profile()}>
          {texts.profile.title}
        </Link>,
        <Link key="security" {...paths.security()}>
          {texts.security.title}
        </Link>,
        <Link key="sessions" {...paths.sessions()}>
          {texts.sessions.title}
        </Link>,
        <Link key="notifications" {...paths.notifications()}>
          {notificationsTexts.title}
        </Link>,
        <Link key="appearance" {...paths.appearance()}>
          {texts.appearance.title}
        </Link>,
      ]}
    </SettingsFrame>
  )
}
