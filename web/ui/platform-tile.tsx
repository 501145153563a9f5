import { issuePlatform, platformLetters, platformName } from '#shared/platforms.ts'
import styles from './platform-tile.module.css'

type PlatformTileProps = {
  /** The platform of a project or an issue, or `all`. */
  platform: string
  /** The platform of the issue's project, once it is known. */
  kind?: string | undefined
  quiet?: boolean
}

/** The letter tile of a platform. */
export function PlatformTile({ platform, kind = '', quiet = false }: PlatformTileProps) {
  if (platform === 'all') {
    return (
      <span className={styles.tile} data-all="" aria-hidden="true">
        ALL
      </span>
    )
  }
  const shown = issuePlatform(kind, platform)
  const word = platformName(shown)
  // Hidden from screen readers beside its name.
  const spoken = quiet
    ? ({ 'aria-hidden': true } as const)
    : ({ role: 'img', 'aria-label': word, title: word } as const)
  return (
    <span className={styles.tile} {...spoken}>
      {platformLetters(shown)}
    </span>
  )
}
