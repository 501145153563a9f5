/** `42/s`, `1.3/s`; below one a second `7.5/min`. */
export const formatPerSecond = (perSecond: number): string =>
  perSecond >= 1 || perSecond === 0
    ? `${Number(perSecond.toFixed(perSecond < 10 ? 1 : 0))}/s`
    : `${Number((perSecond * 60).toFixed(perSecond < 1 / 6 ? 1 : 0))}/min`
