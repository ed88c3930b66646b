//! Advice on clocks without a relation.

use lttv_context::synchronize::graph::PairResult;
use lttv_context::synchronize::pairs::PairQuality;

use super::find::Found;
use super::names::label;

/// The events that relate clocks, by tracer.
pub const EVENTS: &str = "\
Clocks are related by messages in both directions. Record on each host, while they exchange
messages (any TCP connection, or ping):
  LTTng      net_dev_queue, net_if_receive_skb    (lttng-modules 2.9 or later; for UDP and ping 2.13)
             inet_sock_local_out, inet_sock_local_in    (additional modules)
  LTTng 0.x  dev_xmit_extended, dev_receive, tcpv4_rcv_extended
  ROS 2      ros2:rmw_publish, ros2:rmw_take";

/// Returns why the clocks of a traceset are not all related, with one line for each reason. `None`
/// if they are.
pub fn unrelated(found: &Found) -> Option<String> {
    let (hosts, islands) = (&found.hosts, found.clocks.islands());
    if hosts.all().len() == 1 {
        let name = label(hosts, lttv_context::synchronize::HostIndex(0));
        return Some(format!("all traces are of one host, `{name}`, and share its clock"));
    }
    if islands.len() < 2 {
        return None;
    }
    let groups = islands.iter().map(|island| {
        let names: Vec<_> =
            island.hosts.iter().map(|host| format!("`{}`", label(hosts, *host))).collect();
        names.join(", ")
    });
    let groups: Vec<_> = groups.collect();
    let mut text = format!("no relation between the clocks of {}", groups.join(" and "));
    let separated = found.clocks.pairs().iter().filter(|pair| {
        let island = |host| found.clocks.host(host).map(|clock| clock.island());
        island(pair.first) != island(pair.second)
    });
    for pair in separated {
        text += &format!("\n  {}", reason(found, pair));
    }
    Some(text)
}

/// Returns the messages that arrive before they are sent although the clocks of their hosts are
/// related, with one line for each pair of hosts. `None` if there are none.
///
/// The relation comes from other pairs: these messages contradict it, so that it is wrong or they
/// are matched wrongly.
pub fn contradicted(found: &Found) -> Option<String> {
    let lines = found.clocks.pairs().iter().filter_map(|pair| {
        let early = pair.least_delay.filter(|delay| *delay < 0)?;
        let name = |host| format!("`{}`", label(&found.hosts, host));
        Some(format!(
            "\n  messages between {} and {} arrive up to {:.1} µs before they are sent",
            name(pair.first),
            name(pair.second),
            -early as f64 / 1e3
        ))
    });
    let lines: String = lines.collect();
    let reason = "a clock was set or changed its rate, or messages are matched wrongly";
    (!lines.is_empty()).then(|| format!("the times contradict messages: {reason}{lines}"))
}

/// Returns why two hosts that exchange messages are not related.
pub fn reason(found: &Found, pair: &PairResult) -> String {
    let name = |host| format!("`{}`", label(&found.hosts, host));
    let (first, second) = (name(pair.first), name(pair.second));
    let messages = pair.forward + pair.backward;
    let between = format!("{messages} messages between {first} and {second}");
    match pair.bounds.quality() {
        PairQuality::OneWay => {
            let (from, to) = if pair.forward > 0 { (first, second) } else { (second, first) };
            format!("{messages} messages from {from} to {to}, but none in the other direction")
        }
        PairQuality::OneSided => {
            format!(
                "{between}, but all of one direction come before those of the other: record longer"
            )
        }
        PairQuality::Contradiction(of) => format!(
            "{between} contradict each other by {} ns at {} s: the rate of a clock changed, or a clock was set",
            of.ns, of.at
        ),
        _ => {
            format!("{between} do not limit the relation of their clocks to a drift of less than 2")
        }
    }
}
