/**
 * Connections that the kernel keeps for a listener until its process takes them. Linux bounds it by `net.core.somaxconn`, which is
 * 4,096 unless an operator changes it; Node's own value is 511.
 */
export const listenBacklog = 4_096;
