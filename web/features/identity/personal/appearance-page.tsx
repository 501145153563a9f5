import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { setPrefs, usePrefs } from '../../../app/prefs.ts'
import { Card } from '../../../ui/card.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { personalTexts } from './texts.ts'
import styles from '../../../frames/settings.module.css'

const texts = personalTexts.appearance
const THEMES = (['system', 'light', 'dark'] as const).map((value) => ({ value, label: texts.themes[value] }))
const DENSITIES = (['comfortable', 'compact'] as const).map((value) => ({ value, label: texts.densities[value] }))
const MOTIONS = (['system', 'reduced'] as const).map((value) => ({ value, label: texts.motions[value] }))
const ZONES = (['local', 'utc'] as const).map((value) => ({ value, label: texts.zones[value] }))

/** Preferences of this browser, applied immediately. */
export function AppearancePage() {
  const prefs = usePrefs()
  return (
    <>
      <SettingsHead title={texts.title} of={null} lead={texts.lead} />
      <Card aria-label={texts.title}>
        <ul className={styles.rows}>
          <SettingRow title={texts.theme} more={texts.themeMore}>
            <Segmented
              label={texts.theme}
              value={prefs.theme}
              options={THEMES}
              onChange={(theme) => setPrefs({ theme })}
            />
          </SettingRow>
          <SettingRow title={texts.density} more={texts.densityMore}>
            <Segmented
              label={texts.density}
              value={prefs.density}
              options={DENSITIES}
              onChange={(density) => setPrefs({ density })}
            />
          </SettingRow>
          <SettingRow title={texts.motion} more={texts.motionMore}>
            <Segmented
              label={texts.motion}
              value={prefs.motion}
              options={MOTIONS}
              onChange={(motion) => setPrefs({ motion })}
            />
          </SettingRow>
          <SettingRow title={texts.zone} more={texts.zoneMore}>
            <Segmented label={texts.zone} value={prefs.zone} options={ZONES} onChange={(zone) => setPrefs({ zone })} />
          </SettingRow>
          <SettingRow title={texts.letters} more={texts.lettersMore}>
            <Switch
              label={texts.letters}
              checked={prefs.letterKeys}
              onChange={(letterKeys) => setPrefs({ letterKeys })}
            />
          </SettingRow>
        </ul>
      </Card>
    </>
  )
}
